import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { realpath, rename, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { ExportReport } from '../../src-shared/contract/app.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { isBelow } from '../library/sources/added-paths.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import { discard } from '../platform/discard.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';
import { fileError } from '../platform/paths.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import { spaceOf } from '../platform/space.ts';
import { libraryEntries } from './documents.ts';
import { textEntry, type ExportEntry } from './entry.ts';
import { ExportNames } from './names.ts';
import { readme } from './readme.ts';
import { folderSink, zipSink } from './sinks.ts';
import {
  analysisEntries,
  choiceEntries,
  conversationEntries,
  type Analyses,
  type Conversations,
} from './written.ts';

interface ExportServiceOptions {
  data: string;
  settingsPath: string;
  program: string;
  catalogue: Catalogue;
  chat: Conversations;
  analyses: Analyses;
  models: Pick<ModelRegistry, 'all'>;
  events: Pick<EventBus, 'emit'>;
}

const PROGRESS_MS = 200;
/** Documents named in a report; documents.csv names all. */
const NAMED = 20;

/** Writes everything that people wrote, gave or chose, in open formats: docs/formats/export.md. */
export class ExportService {
  readonly #options: ExportServiceOptions;
  readonly #queue = new SerialQueue();

  constructor(options: ExportServiceOptions) {
    this.#options = options;
  }

  /**
   * Writes an export to an absolute path: a ZIP file if it ends in .zip, else a folder, which gets a new folder for it unless it is missing or
   * empty. It gets its name once it is complete. Progress is sent as 'exports.progress'. BAD_ARGUMENT, DISK_FULL, STORE_READ_ONLY, ABORTED.
   */
  write(to: string, signal: AbortSignal): Promise<ExportReport> {
    return this.#queue.run(async () => {
      throwIfAborted(signal);
      const createdMs = Date.now();
      const target = await this.#target(to, createdMs);
      try {
        return await this.#writeTo(target, createdMs, signal);
      } catch (error) {
        throwIfAborted(signal);
        throw targetError(error, target);
      } finally {
        this.#options.events.emit('exports.changed', {});
      }
    });
  }

  async #writeTo(target: string, createdMs: number, signal: AbortSignal): Promise<ExportReport> {
    const part = freePath((n) => `${target}${n === 1 ? '' : `-${n}`}.part`);
    const sink = /\.zip$/i.test(target) ? zipSink(part, signal) : await folderSink(part, signal);
    const report: ExportReport = { path: target, files: 0, bytes: 0, incomplete: 0, named: [] };
    const total = this.#size();
    const tell = throttled(PROGRESS_MS, () => {
      const done = Math.min(report.bytes, total);
      this.#options.events.emit('exports.progress', { done, total });
    });
    try {
      for await (const entry of this.#entries(createdMs, report)) {
        await sink.write(entry, Readable.from(counted(entry, report, tell), { objectMode: false }));
        report.files++;
      }
      await sink.end();
      await rename(part, target);
      return report;
    } catch (error) {
      await sink.abandon();
      await discard(part);
      throw error;
    } finally {
      tell.cancel();
    }
  }

  async *#entries(createdMs: number, report: ExportReport): AsyncGenerator<ExportEntry> {
    const { program, data, chat, analyses, settingsPath, models, catalogue } = this.#options;
    const names = new ExportNames();
    yield textEntry('README.txt', readme(program, createdMs, data));
    yield* choiceEntries(settingsPath, models);
    yield* conversationEntries(chat, names);
    yield* analysisEntries(analyses, names);
    yield* libraryEntries(catalogue, names, (path, reason) => {
      report.incomplete++;
      if (report.named.length < NAMED) report.named.push({ path, reason });
    });
  }

  /** Bytes of documents and their texts, about. */
  #size(): number {
    const { bytes, textLength } = this.#options.catalogue.documents.size();
    return bytes + textLength;
  }

  /** The path for the export. BAD_ARGUMENT, DISK_FULL. */
  async #target(to: string, createdMs: number): Promise<string> {
    if (!isAbsolute(to)) throw unusable(`${to} is not a full path`, 'Begin it at the root of a drive.');
    const path = resolve(to);
    const info = await stat(path).catch(() => undefined);
    if (info && !info.isDirectory()) throw unusable(`${path} exists already`, 'Choose another name.');
    const stamp = new Date(createdMs).toISOString().slice(0, 19).replaceAll(':', '-').replace('T', ' ');
    const isUsed = info !== undefined && readdirSync(path).length > 0;
    const target = isUsed
      ? freePath((n) => join(path, `Kvasir export ${stamp}${n === 1 ? '' : ` (${n})`}`))
      : path;
    const folder = await realpath(dirname(target)).catch(() => undefined);
    if (folder === undefined) throw unusable(`${dirname(target)} was not found`, 'Create that folder first.');
    this.#requireOutside(folder);
    await this.#requireSpace(folder);
    return target;
  }

  /** Kvasir would read its own export as documents, and what is deleted later would stay in the data folder. */
  #requireOutside(folder: string): void {
    const { data, catalogue } = this.#options;
    const roots = catalogue.libraries.roots().filter(({ kind }) => kind === 'folder');
    for (const own of [realpathSync(data), ...roots.map(({ path }) => path)])
      if (isBelow(own, folder))
        throw unusable(`${folder} is in ${own}, which Kvasir reads`, 'Choose a folder outside of it.');
  }

  async #requireSpace(folder: string): Promise<void> {
    const needed = this.#size();
    const free = (await spaceOf(folder))?.free ?? Infinity;
    if (needed <= free) return;
    throw new KvasirError(
      'DISK_FULL',
      `The export needs about ${megabytes(needed)}, and the disk of ${folder} has ${megabytes(free)}.`,
      'Free some space, or choose another drive.',
    );
  }
}

async function* counted(
  { content }: ExportEntry,
  report: ExportReport,
  tell: () => void,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of typeof content === 'string' ? [content] : content) {
    const part = typeof piece === 'string' ? Buffer.from(piece) : piece;
    report.bytes += part.length;
    tell();
    yield part;
  }
}

function freePath(path: (n: number) => string): string {
  for (let n = 1; ; n++) if (!existsSync(path(n))) return path(n);
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

function unusable(why: string, advice: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', `The export cannot be written: ${why}.`, advice);
}

/** Only the target's errors arrive here: those of originals are in the report. */
function targetError(error: unknown, target: string): unknown {
  const { errno, code } = error as NodeJS.ErrnoException;
  if (error instanceof KvasirError || typeof errno !== 'number') return error;
  const what = `The export ${target} could not be written`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return fileError(error, what);
  return new KvasirError('STORE_READ_ONLY', `${what} (${code}).`, 'Choose another folder or drive.', {
    cause: error,
  });
}
