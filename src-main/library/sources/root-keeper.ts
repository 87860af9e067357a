import { basename } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';
import type { SkippedFile } from '../../../src-shared/contract/libraries.ts';
import { isAborted } from '../../platform/abort.ts';
import { failureOf } from '../../platform/failure.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import type { Logger } from '../../platform/logger.ts';
import { timedWork } from '../../platform/timed-work.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { RootRow } from '../../catalogue/library-table.ts';
import { scanRoot } from './root-scan.ts';
import { isSkipped } from './scan.ts';

interface RootKeeperOptions {
  catalogue: Catalogue;
  events: EventBus;
  log: Logger;
  /** A root's documents, or its availability, have changed. */
  onChange: (libraryId: number, changes: { removed: number }) => void;
  /** Milliseconds without a change before changes are processed: editors and copies write in bursts. */
  quietMs?: number;
  /** How often an unavailable root is checked. */
  absentPollMs?: number;
}

const QUIET_MS = 500;
const ABSENT_POLL_MS = 15_000;

/**
 * Keeps the catalogue's list of files equal to the files on disk: scans roots on request, and when something in a watched one has changed.
 * Scans run one after another.
 */
export class RootKeeper {
  readonly #options: RootKeeperOptions;
  readonly #watchers = new Map<number, FSWatcher>();
  /** One watcher for all single files, of which there may be thousands. */
  #fileWatcher: FSWatcher | undefined;
  readonly #files = new Map<string, number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #waiting = new Map<number, Promise<void>>();
  /** Roots whose scan failed and whose failure could not be stored either. */
  readonly #unmarked = new Set<number>();
  /** By root, as last scanned. */
  readonly #skipped = new Map<number, readonly SkippedFile[]>();
  readonly #abort = new AbortController();
  #tail: Promise<unknown> = Promise.resolve();
  #poll: NodeJS.Timeout | undefined;

  constructor(options: RootKeeperOptions) {
    this.#options = options;
  }

  /** Scans and watches all roots that should be watched. */
  start(): void {
    for (const root of this.#options.catalogue.libraries.roots()) {
      if (root.watched || root.kind === 'managed') this.#scanLater(root.id);
      this.follow(root);
    }
    const look = timedWork(this.#options, () => this.#lookForAbsent());
    this.#poll = setInterval(look, this.#options.absentPollMs ?? ABSENT_POLL_MS);
    this.#poll.unref();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearInterval(this.#poll);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all([...this.#watchers.values()].map((watcher) => watcher.close()));
    await this.#fileWatcher?.close();
    await this.#tail;
  }

  /** Watches a root, or stops watching it, according to its row. */
  follow({ id, kind, path, watched }: RootRow): void {
    if (this.#abort.signal.aborted) return;
    if (!watched) this.unfollow(id);
    else if (kind === 'file') this.#followFile(id, path);
    else if (!this.#watchers.has(id)) this.#followFolder(id, path);
  }

  #followFile(id: number, path: string): void {
    // Each file is checked once more when its watch starts: it may have changed since its scan.
    this.#fileWatcher ??= watch([], { ignorePermissionErrors: true })
      .on('all', (_event, changed) => {
        const rootId = this.#files.get(changed);
        if (rootId !== undefined) this.#touched(rootId);
      })
      .on('error', (error) => this.#options.log.warn('watching-failed', { error: String(error) }));
    this.#files.set(path, id);
    this.#fileWatcher.add(path);
  }

  #followFolder(id: number, path: string): void {
    const ignored = (inside: string): boolean => inside !== path && isSkipped(basename(inside));
    const watcher = watch(path, { ignoreInitial: true, ignored, ignorePermissionErrors: true });
    watcher.on('all', () => this.#touched(id));
    // Changes between the last scan and now went unnoticed.
    watcher.on('ready', () => this.#touched(id));
    watcher.on('error', (error) => this.#options.log.warn('watching-failed', { path, error: String(error) }));
    this.#watchers.set(id, watcher);
  }

  unfollow(rootId: number): void {
    void this.#watchers.get(rootId)?.close();
    this.#watchers.delete(rootId);
    for (const [path, id] of this.#files) {
      if (id !== rootId) continue;
      this.#files.delete(path);
      this.#fileWatcher?.unwatch(path);
    }
    clearTimeout(this.#timers.get(rootId));
  }

  /** Scans for new, changed and deleted files of a root, after pending scans. Never rejects. */
  scan(rootId: number): Promise<void> {
    const waiting = this.#waiting.get(rootId);
    if (waiting) return waiting;
    const turn = this.#tail
      .then(() => {
        this.#waiting.delete(rootId);
        return this.#scanNow(rootId);
      })
      .catch((error: unknown) => {
        this.#unmarked.add(rootId);
        this.#options.log.warn('root-not-marked', { rootId, error: String(error) });
      });
    this.#waiting.set(rootId, turn);
    this.#tail = turn;
    return turn;
  }

  /** Has a root scanned by somebody else, between two scans of this object's. As `work`. */
  between<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** Files of a root that are not documents, as found by its last scan; none before the first. */
  skipped(rootId: number): readonly SkippedFile[] {
    return this.#skipped.get(rootId) ?? [];
  }

  #scanLater(rootId: number): void {
    void this.scan(rootId);
  }

  #touched(rootId: number): void {
    clearTimeout(this.#timers.get(rootId));
    const timer = setTimeout(() => this.#scanLater(rootId), this.#options.quietMs ?? QUIET_MS);
    timer.unref();
    this.#timers.set(rootId, timer);
  }

  async #scanNow(rootId: number): Promise<void> {
    const { catalogue, onChange, log } = this.#options;
    const root = catalogue.libraries.root(rootId);
    if (!root || this.#abort.signal.aborted) return;
    try {
      const { signal } = this.#abort;
      const changes = await scanRoot(catalogue, root, { signal, retryFailed: root.failure !== null });
      const back = catalogue.libraries.setFailure(rootId, null);
      if (back) this.#followAnew(root);
      const skippedBefore = this.skipped(rootId).length;
      this.#skipped.set(rootId, changes.skipped);
      const skippedMore = changes.skipped.length !== skippedBefore;
      if (back || skippedMore || changes.queued + changes.removed + changes.renamed > 0)
        onChange(root.libraryId, changes);
      for (const { message } of changes.failures) log.warn('not-scanned', { root: root.path, message });
    } catch (error) {
      if (isAborted(error)) return;
      if (!catalogue.libraries.setFailure(rootId, failureOf(error))) return; // known: it is checked again and again
      log.warn('root-not-scanned', { root: root.path, error: String(error) });
      onChange(root.libraryId, { removed: 0 });
    }
  }

  /** The watcher of a folder that was gone does not see the folder that came back. */
  #followAnew(root: RootRow): void {
    this.unfollow(root.id);
    this.follow(root);
  }

  #lookForAbsent(): void {
    for (const { id, failure } of this.#options.catalogue.libraries.roots())
      if (this.#unmarked.delete(id) || failure) this.#scanLater(id);
  }
}
