import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../../../platform/abort.ts';

/** Limits of a search. Models are a few folders deep; a home folder chosen by mistake has millions of files. */
const LIMITS = { depth: 8, entries: 50_000, ms: 20_000 };

interface WalkOptions {
  signal: AbortSignal;
  /** Called for every file and folder visited. */
  onEntry?: () => void;
  limits?: Partial<typeof LIMITS>;
}

/** Walks the folders of one search, all of which share its limits. */
export class Walk {
  lookedAt = 0;
  /** Whether a limit was reached. */
  cutShort = false;
  readonly #options: WalkOptions;
  readonly #limits: typeof LIMITS;
  readonly #began = performance.now();

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /**
   * Files below a folder whose names match, nearer ones first. Links are followed, but no folder is visited twice.
   * Unreadable and missing folders are skipped. ABORTED.
   */
  async *files(top: string, wanted: (name: string) => boolean): AsyncGenerator<string> {
    const seen = new Set<string>();
    const folders = [{ path: top, depth: 0 }];
    for (let next = folders.shift(); next && !this.cutShort; next = folders.shift()) {
      const { path, depth } = next;
      const id = await folderId(path);
      if (id === undefined || seen.has(id)) continue;
      seen.add(id);
      for await (const entry of entriesOf(path)) {
        if (this.#isOver()) return;
        const child = join(path, entry.name);
        const link = entry.isSymbolicLink();
        if ((entry.isFile() || link) && wanted(entry.name)) yield child;
        if (!entry.isDirectory() && !link) continue;
        if (depth < this.#limits.depth) folders.push({ path: child, depth: depth + 1 });
      }
    }
  }

  #isOver(): boolean {
    throwIfAborted(this.#options.signal);
    this.lookedAt++;
    this.#options.onEntry?.();
    const late = performance.now() - this.#began > this.#limits.ms;
    this.cutShort ||= late || this.lookedAt > this.#limits.entries;
    return this.cutShort;
  }
}

/** The entries of a folder one after another; none if it cannot be read. */
async function* entriesOf(path: string) {
  try {
    for await (const entry of await opendir(path)) yield entry;
  } catch {
    // Belongs to another user, or was deleted meanwhile.
  }
}

/** Identifies a folder regardless of links and letter case; undefined if it is not a folder. */
async function folderId(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.isDirectory() ? `${found.dev} ${found.ino}` : undefined;
}
