import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Failure } from '../../../../src-shared/contract/common.ts';
import type {
  FoundApp,
  FoundModel,
  FoundModels as Report,
} from '../../../../src-shared/contract/found-models.ts';
import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { Engine, GgufInfo } from '../../../engine/engine.ts';
import { throwIfAborted } from '../../../platform/abort.ts';
import { throttled, type EventBus } from '../../../platform/event-bus.ts';
import { failureOf } from '../../../platform/failure.ts';
import { SerialQueue } from '../../../platform/serial-queue.ts';
import { foundHeaderOf } from '../../registry/entry.ts';
import type { KnownModels } from '../../registry/known-models.ts';
import { whereItLies } from '../../registry/model-files.ts';
import { partOf } from '../../registry/model-parts.ts';
import type { ModelRegistry } from '../../registry/model-registry.ts';
import { candidatesIn } from './layouts.ts';
import type { Candidate } from './places.ts';
import { modelPlaces, type Place } from './places.ts';
import { rankOf } from './rank.ts';
import { Walk } from './walk.ts';

interface FoundModelsOptions {
  engine: Pick<Engine, 'inspectAside' | 'fingerprint'>;
  events: EventBus;
  /** Folders where other programs keep models. */
  places?: (() => Promise<Place[]>) | undefined;
  known: Pick<KnownModels, 'fit'>;
  registry: Pick<ModelRegistry, 'byPath'>;
  /** Adds a file to the model list under a name. */
  add: (path: string, name: string) => Promise<ModelEntry>;
}

/** A model, or a file that is not a usable model. */
interface Finding extends Candidate {
  /** Path as in the model list. */
  lies: string;
  alsoIn: FoundApp[];
  fileBytes: number;
  header: GgufInfo | null;
  failure: Failure | null;
}

/** Minimum time between two progress reports, in milliseconds. */
const PROGRESS_MS = 250;

/**
 * Finds models that other programs keep on this machine. Files are only read, and only their headers. A model in
 * several places is listed once: the same file is recognised by device and inode, an equal copy by the fingerprint that
 * KV caches use too, which is only computed for files of equal size.
 */
export class FoundModels {
  readonly #options: FoundModelsOptions;
  readonly #queue = new SerialQueue();
  readonly #closing = new AbortController();
  #state: Report['state'] = 'never';
  #walk: Walk | undefined;
  #findings: Finding[] = [];

  constructor(options: FoundModelsOptions) {
    this.#options = options;
  }

  /** Results of the last search, or of the current one so far. */
  report(): Report {
    const models = this.#findings.map((finding) => this.#entry(finding));
    return {
      state: this.#state,
      lookedAt: this.#walk?.lookedAt ?? 0,
      cutShort: this.#walk?.cutShort ?? false,
      models: models.sort((a, b) => rankOf(a) - rankOf(b) || a.name.localeCompare(b.name)),
    };
  }

  /**
   * Searches the folders where programs keep models, and folders from the user. BAD_ARGUMENT: one of those does not
   * exist; ABORTED.
   */
  async search(folders: readonly string[] = []): Promise<Report> {
    for (const folder of folders) await requireFolder(folder);
    return this.#queue.run(() => this.#search(folders));
  }

  /** Adds a found model to the list without moving it. NOT_FOUND, MODEL_NOT_FOUND, MODEL_INVALID. */
  add(path: string): Promise<ModelEntry> {
    const finding = this.#findings.find((each) => each.path === path);
    if (finding) return this.#options.add(path, finding.name);
    throw new KvasirError('NOT_FOUND', `Model not found: ${path}.`, 'Search for models again.');
  }

  /** Cancels a search in progress. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue.run(() => Promise.resolve());
  }

  async #search(folders: readonly string[]): Promise<Report> {
    const { events, places = modelPlaces } = this.#options;
    const { signal } = this.#closing;
    throwIfAborted(signal);
    const tell = throttled(PROGRESS_MS, () => events.emit('models.found', this.report()));
    this.#state = 'searching';
    this.#findings = [];
    const walk = (this.#walk = new Walk({ signal, onEntry: tell }));
    try {
      const identities = new Map<string, Finding>();
      const named = folders.map((path): Place => ({ app: 'folder', layout: 'any', path }));
      for (const place of [...named, ...(await places())]) {
        for await (const candidate of candidatesIn(place, walk)) await this.#take(candidate, identities);
      }
    } finally {
      tell.cancel();
      this.#state = 'done';
    }
    const report = this.report();
    events.emit('models.found', report);
    return report;
  }

  /** Reads a candidate's header, unless the same file was already found. */
  async #take(candidate: Candidate, identities: Map<string, Finding>): Promise<void> {
    const file = await stat(candidate.path, { bigint: true }).catch(() => undefined);
    const identity = file ? `${file.dev} ${file.ino}` : candidate.path;
    const known = identities.get(identity) ?? (await this.#read(candidate));
    identities.set(identity, known);
    const same = await this.#sameAs(known);
    if (same) {
      alsoFound(same, candidate);
      return;
    }
    known.lies = await whereItLies(known.path).catch(() => known.path);
    this.#findings.push(known);
  }

  async #read(candidate: Candidate): Promise<Finding> {
    const finding = { ...candidate, lies: candidate.path, alsoIn: [], fileBytes: 0 };
    try {
      requireFirstFile(candidate.path);
      const header = await this.#options.engine.inspectAside(candidate.path);
      return { ...finding, fileBytes: header.fileBytes, header, failure: null };
    } catch (error) {
      return { ...finding, header: null, failure: failureOf(error) };
    }
  }

  async #sameAs(known: Finding): Promise<Finding | undefined> {
    if (this.#findings.includes(known)) return known;
    for (const each of this.#findings) if (await this.#isEqual(each, known)) return each;
    return undefined;
  }

  async #isEqual(a: Finding, b: Finding): Promise<boolean> {
    if (!a.header || !b.header || a.fileBytes !== b.fileBytes) return false;
    const { engine } = this.#options;
    try {
      return (await engine.fingerprint(a.path)) === (await engine.fingerprint(b.path));
    } catch {
      return false; // changed meanwhile
    }
  }

  #entry({ lies, header, ...finding }: Finding): FoundModel {
    const { known, registry } = this.#options;
    return {
      ...finding,
      header: header && { ...foundHeaderOf(header, finding.path), fit: known.fit({ header }) },
      id: registry.byPath(lies)?.id ?? null,
    };
  }
}

/** The same model again: in another program, or without the adapter it was found with. */
function alsoFound(known: Finding, { app, name, hasAdapter }: Candidate): void {
  if (known.app !== app && !known.alsoIn.includes(app)) known.alsoIn.push(app);
  if (known.app === app && known.hasAdapter && !hasAdapter) Object.assign(known, { name, hasAdapter });
}

async function requireFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new KvasirError('BAD_ARGUMENT', `Folder not found: ${path}.`, 'Check the path.');
}

/** MODEL_PART_MISSING: the first file of a split model is missing, though others exist. */
function requireFirstFile(path: string): void {
  const part = partOf(path);
  if (!part || existsSync(path)) return;
  throw new KvasirError(
    'MODEL_PART_MISSING',
    `The model ${basename(part.stem)} is split into ${part.parts} files, and ${basename(path)} is missing.`,
    'Put the missing file into the same folder.',
  );
}
