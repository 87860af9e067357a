import { randomUUID } from 'node:crypto';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { RootRow } from '../../catalogue/library-table.ts';

/** For a folder: nothing that leads elsewhere, whatever an imported catalogue says. */
const NAME = /^[\w-]+$/;
const RECOVERED_NAME = 'Recovered files';

/**
 * Folders of uploaded files, in `libraries/` of the data folder: one for each library that has any, under a name that is never reused. The
 * row that owns a folder is created before it and deleted in one transaction with a note that the folder is to be deleted: a folder without
 * either was lost by a catalogue, and is never deleted.
 */
export class UploadFolders {
  readonly #catalogue: Catalogue;
  readonly #dir: string;

  constructor(catalogue: Catalogue, dir: string) {
    this.#catalogue = catalogue;
    this.#dir = dir;
  }

  /**
   * Updates each folder's path for this data folder, which may have been moved, or restored from a backup made elsewhere or by somebody
   * else.
   */
  place(): void {
    const { libraries } = this.#catalogue;
    const roots = [...libraries.roots(), ...libraries.doomed().flatMap((id) => libraries.roots(id))];
    for (const root of roots.filter(({ kind }) => kind === 'managed')) {
      const name = root.path.split(/[\\/]/).at(-1) ?? '';
      const path = join(this.#dir, NAME.test(name) ? name : randomUUID());
      if (path !== root.path) libraries.moveRoot(root.id, path);
    }
  }

  /** The folder in which a root's files may be deleted; undefined for roots that Kvasir does not own. */
  ownFolder({ kind, path }: RootRow): string | undefined {
    return kind === 'managed' && dirname(path) === this.#dir && NAME.test(basename(path)) ? path : undefined;
  }

  /** A library's upload root; registered when missing. The first upload creates the folder itself. */
  of(libraryId: number): RootRow {
    const { libraries } = this.#catalogue;
    const known = libraries.roots(libraryId).find(({ kind }) => kind === 'managed');
    if (known) return known;
    const path = join(this.#dir, randomUUID());
    const id = libraries.addRoot(libraryId, { kind: 'managed', path, watched: false });
    return libraries.root(id) as RootRow;
  }

  /** Removes roots with `remove`, and deletes their folders if these are upload folders that no other root uses. */
  async discard(roots: readonly RootRow[], remove: () => void): Promise<void> {
    const { libraries } = this.#catalogue;
    this.#catalogue.transaction(() => {
      remove();
      for (const root of roots) {
        const folder = this.ownFolder(root);
        if (folder !== undefined && !libraries.hasRootAt(folder)) libraries.discardFolder(basename(folder));
      }
    });
    await this.removeDiscarded();
  }

  /** Includes folders whose deletion was prevented by a crash or a file in use. */
  async removeDiscarded(): Promise<void> {
    const { libraries } = this.#catalogue;
    for (const name of libraries.discardedFolders()) {
      if (NAME.test(name)) await rm(join(this.#dir, name), { recursive: true, force: true });
      libraries.forgetDiscarded(name);
    }
  }

  /** Creates libraries for folders that no library owns: their catalogue was damaged. Returns how many. */
  async recover(): Promise<number> {
    const { libraries } = this.#catalogue;
    const entries = await readdir(this.#dir, { withFileTypes: true }).catch(() => []);
    const discarded = new Set(libraries.discardedFolders());
    let recovered = 0;
    for (const entry of entries) {
      const path = join(this.#dir, entry.name);
      if (!entry.isDirectory() || discarded.has(entry.name) || libraries.hasRootAt(path)) continue;
      if (
        await rmdir(path).then(
          () => true,
          () => false,
        )
      )
        continue; // empty
      this.#catalogue.transaction(() => {
        const id = libraries.create(RECOVERED_NAME);
        libraries.addRoot(id, { kind: 'managed', path, watched: false });
      });
      recovered++;
    }
    return recovered;
  }
}
