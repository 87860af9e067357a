import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../../platform/abort.ts';

/** What a search looks at, at most. Models lie a few folders deep; a home folder named by mistake has millions of files. */
const LIMITS = { depth: 8, entries: 50_000, ms: 20_000 };

interface WalkOptions {
  signal: AbortSignal;
  /** Told of every file and folder that is looked at. */
  onEntry?: () => void;
  limits?: Partial<typeof LIMITS>;
}

/** Goes through folders of one search, all of which share its limits. */
export class Walk {
  lookedAt = 0;
  /** Whether there was more than the limits allow. */
  cutShort = false;
  readonly #options: WalkOptions;
  readonly #limits: typeof LIMITS;
  readonly #began = performance.now();

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /**
   * The files below a folder whose names are wanted, nearer ones first. Links are followed, but into no folder twice. What cannot be
   * read, or is not there, is passed over. ABORTED.
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

/** The entries of a folder one after another; none of one that cannot be read. */
async function* entriesOf(path: string) {
  try {
    for await (const entry of await opendir(path)) yield entry;
  } catch {
    // Another user's, or gone meanwhile.
  }
}

/** Says that two paths lead to the same folder, whatever links or the case of letters; undefined when it is none. */
async function folderId(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found?.isDirectory() ? `${found.dev} ${found.ino}` : undefined;
}
