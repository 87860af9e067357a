import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Failure } from '../../src-shared/contract/common.ts';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import type { DocumentInfo, LibraryInfo } from '../../src-shared/contract/libraries.ts';
import type { Model } from '../engine/engine.ts';
import { FakeModel, FakeStore } from './fusion.ts';
import type { ChunkEntry, EvictReport } from '../kvstore/store.ts';
import type { ActiveModel, ModelSource } from '../models/active-model.ts';
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { silentLogger } from '../platform/logger.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { readFolder, type ReadFolderOptions, type ReadFolderRun } from '../library/read-folder.ts';
import { LibraryService, type LibraryServiceOptions } from '../library/library-service.ts';
import { ParserProcess } from '../library/parser/parser-process.ts';
import { DocumentReader } from '../library/queue/reader.ts';
import { DocumentRecogniser } from '../library/queue/recogniser.ts';

/** A store in memory with the functions that a library needs beyond answers. */
export class LibraryFakeStore extends FakeStore {
  readonly pinned = new Set<string>();

  override entry(key: string): ChunkEntry | undefined {
    const chunk = this.chunks.get(key);
    if (!chunk) return undefined;
    const known: Partial<ChunkEntry> = {
      key,
      bytes: chunk.bytes,
      inRam: false,
      hits: 0,
      lastUsedAt: 1,
      pinned: this.pinned.has(key),
    };
    return known as ChunkEntry;
  }

  unpin(key: string): boolean {
    return this.pinned.delete(key);
  }

  async evict({ keys = [] }: { keys?: readonly string[] }): Promise<EvictReport> {
    let bytes = 0;
    let entries = 0;
    for (const key of keys) {
      bytes += this.chunks.get(key)?.bytes ?? 0;
      if (this.chunks.delete(key)) entries++;
    }
    return { entries, bytes, kept: 0 };
  }

  override stats(): ReturnType<FakeStore['stats']> {
    const bytes = [...this.chunks.values()].reduce((sum, chunk) => sum + chunk.bytes, 0);
    return { ...super.stats(), bytes };
  }
}

class FakeModels implements ModelSource {
  active: ActiveModel | undefined;
  failure: Error | undefined;
  readonly #listeners = new Set<(active: ActiveModel) => void>();

  constructor(model: FakeModel, chunkTokens: number) {
    this.use(model, chunkTokens);
  }

  use(model: FakeModel, chunkTokens: number): void {
    const { path } = model;
    this.active = { id: 'fake', name: 'Fake', path, model: model as unknown as Model, chunkTokens };
    for (const listener of this.#listeners) listener(this.active);
  }

  async current(): Promise<ActiveModel> {
    if (this.failure) throw this.failure;
    return this.active!;
  }

  onChange(listener: (active: ActiveModel) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Reads a folder for one model, without a service; refuses files of more than 1,000 bytes. */
export function folderOf(
  root: string,
  options: Pick<ReadFolderOptions, 'catalogue' | 'store' | 'model' | 'chunkTokens'>,
) {
  const { catalogue, model, chunkTokens } = options;
  const parser = new ParserProcess();
  onTestFinished(() => parser.close());
  const reader = new DocumentReader({ catalogue, parser, maxFileBytes: () => 1000 });
  const settings = { current: { recognise: true, maxFileBytes: 1000 } };
  const reading: ReadFolderOptions = {
    ...options,
    reader,
    recogniser: new DocumentRecogniser({ catalogue, parser, settings, log: silentLogger }),
    gate: new Gate(),
    log: silentLogger,
    onLibraryChanged: () => undefined,
    dtype: 'f16',
  };
  const chunkSetId = (): number => {
    const libraryId = catalogue.libraries.ofFolder(realpathSync(root)) ?? -1;
    return catalogue.chunkTable.findSet(libraryId, model.info.fingerprint, chunkTokens) ?? -1;
  };
  return {
    read: (run: Partial<ReadFolderRun> = {}) => readFolder(root, reading, { precompute: true, ...run }),
    chunkSetId,
    chunks: () => catalogue.chunks(chunkSetId()),
  };
}

/** A data folder, a folder of documents, and the service over them. */
export class ServiceFixture {
  readonly dir: string;
  readonly root: string;
  readonly store = new LibraryFakeStore();
  readonly model = new FakeModel();
  readonly models: FakeModels;
  readonly events: KvasirEvent[] = [];
  bus = new EventBus();
  /** Findings of starts. */
  readonly found: Failure[] = [];
  readonly settings: SettingsService;
  readonly gate = new Gate();
  catalogue: Catalogue;
  service: LibraryService;
  readonly #options: Partial<LibraryServiceOptions>;

  constructor(files: Record<string, string | Buffer> = {}, options: Partial<LibraryServiceOptions> = {}) {
    this.dir = mkdtempSync(join(tmpdir(), 'kvasir-service-'));
    this.root = join(this.dir, 'docs');
    mkdirSync(this.root);
    mkdirSync(join(this.dir, 'sample'));
    for (const [path, content] of Object.entries(files)) this.write(path, content);
    this.models = new FakeModels(this.model, 24);
    this.settings = new SettingsService(join(this.dir, 'settings.json'));
    this.#options = options;
    this.catalogue = Catalogue.open(join(this.dir, 'catalogue.sqlite'));
    this.service = this.#open();
    onTestFinished(async () => {
      await this.stop();
      rmSync(this.dir, { recursive: true, force: true });
    });
  }

  #open(): LibraryService {
    const events = (this.bus = new EventBus());
    events.on((event) => this.events.push(event));
    const { catalogue, store, models, gate, settings, dir } = this;
    return new LibraryService({
      catalogue,
      store,
      models,
      gate,
      settings,
      events,
      log: silentLogger,
      onFound: (failure) => void this.found.push(failure),
      paths: { data: dir, sampleLibrary: join(dir, 'sample') },
      timing: { quietMs: 20, absentPollMs: 50, retryMs: 50 },
      ...this.#options,
    });
  }

  /** Files appear an hour old, so that their timestamps are trusted. */
  write(path: string, content: string | Buffer, ageSeconds = 3600): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const then = Date.now() / 1000 - ageSeconds;
    utimesSync(file, then, then);
  }

  /** A library of the folder, fully processed. */
  async library({ watch = true } = {}): Promise<LibraryInfo> {
    const { id } = this.service.create('Docs');
    await this.service.addPaths({ id, paths: [this.root], watch });
    this.service.start();
    await this.service.rescan(id);
    await this.idle();
    return this.info(id);
  }

  info(id: string): LibraryInfo {
    return this.service.list().find((library) => library.id === id)!;
  }

  documents(libraryId: string, search = ''): DocumentInfo[] {
    const window = { offset: 0, limit: 1000, sort: 'path', descending: false, phase: 'all' } as const;
    return this.service.documents.list({ libraryId, search, ...window }).items;
  }

  /** Resolves when the queue is idle. */
  idle(): Promise<void> {
    return this.until(() => {
      const { waiting, active } = this.service.queue.status();
      return waiting + active === 0;
    });
  }

  async until(condition: () => boolean): Promise<void> {
    for (let turn = 0; !condition(); turn++) {
      if (turn > 6000) throw new Error('it never came to be');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async stop(): Promise<void> {
    await this.service.close();
    this.catalogue.close();
  }

  /** As after a restart of the program; `between` changes the data meanwhile. */
  async restart(between: () => void = () => undefined): Promise<void> {
    await this.stop();
    between();
    this.catalogue = Catalogue.open(join(this.dir, 'catalogue.sqlite'));
    this.service = this.#open();
    this.service.start();
  }
}
