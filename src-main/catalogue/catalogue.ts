import { randomUUID } from 'node:crypto';
import { openOrSetAside, type Database, type QuarantinedDatabase } from '../platform/database.ts';
import { ChunkTable, type ChunkRow } from './chunk-table.ts';
import { DocumentFilter } from './document-filter.ts';
import { DocumentList } from './document-list.ts';
import { DocumentTable } from './document-table.ts';
import { LibraryTable } from './library-table.ts';
import { MIGRATIONS, RECUT_BY } from './schema.ts';
import { KvKeyTable } from './kv-key-table.ts';
import { PlaceTable } from './place-table.ts';
import { ScanTable } from './scan-table.ts';
import { TextTable } from './text-table.ts';
import { VectorTable } from './vector-table.ts';
import { WordIndex } from './word-index.ts';
import { WordTable } from './word-table.ts';

/** State: set while the search index may have words of removed documents. */
const REMOVED = 'removed';

export type { ChunkRow } from './chunk-table.ts';

/**
 * Libraries, their documents and chunks: an SQLite file. Removing a document removes its text and chunks; the chunks' KV belongs to the
 * store.
 */
export class Catalogue {
  readonly libraries: LibraryTable;
  readonly documents: DocumentTable;
  readonly documentList: DocumentList;
  readonly filter: DocumentFilter;
  readonly texts: TextTable;
  readonly scans: ScanTable;
  readonly chunkTable: ChunkTable;
  /** Full text, vectors and store keys: derived from the chunks, can be rebuilt. */
  readonly words: WordTable;
  readonly vectors: VectorTable;
  readonly kvKeys: KvKeyTable;
  /** Places whose KV is computed first. */
  readonly places: PlaceTable;
  readonly #wordIndex: WordIndex;
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
    this.libraries = new LibraryTable(database);
    this.documents = new DocumentTable(database);
    this.documentList = new DocumentList(database);
    this.filter = new DocumentFilter(database);
    this.texts = new TextTable(database);
    this.scans = new ScanTable(database);
    this.chunkTable = new ChunkTable(database);
    this.#wordIndex = new WordIndex(database);
    this.words = new WordTable(database);
    this.vectors = new VectorTable(database);
    this.kvKeys = new KvKeyTable(database);
    this.places = new PlaceTable(database);
  }

  /** A file that cannot be read is set aside and replaced by an empty one. STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  static open(path: string, onSetAside?: (what: QuarantinedDatabase) => void): Catalogue {
    return openOrSetAside(path, MIGRATIONS, (database) => new Catalogue(database), onSetAside);
  }

  /** Whether an update that this start brought has all documents cut again. */
  get isRecut(): boolean {
    const { openedVersion } = this.#database;
    return openedVersion > 0 && openedVersion < RECUT_BY;
  }

  /** Runs `work` in one transaction. */
  transaction<T>(work: () => T): T {
    return this.#database.transaction(work);
  }

  /** Likewise, and a power cut does not undo it. */
  durable<T>(work: () => T): T {
    return this.#database.durable(work);
  }

  /** A chunk with the fields that show its source. */
  chunk(id: number): ChunkRow | undefined {
    return this.chunkTable.get(id);
  }

  /** All chunks of a set in reading order: documents by path, then chunks by position. */
  chunks(chunkSetId: number): Generator<ChunkRow> {
    return this.chunkTable.inReadingOrder(chunkSetId);
  }

  /** Label of the page (slide, sheet, chapter) at a position of a document's text; null where its format has none. */
  pageLabel(documentId: number, offset: number): string | null {
    return this.documents.pageLabel(documentId, offset);
  }

  /** Small values that survive a restart, e.g. that the queue is paused. */
  state(key: string): string | undefined {
    return this.#database.value<string>('SELECT value FROM state WHERE key = ?', key);
  }

  setState(key: string, value: string): void {
    this.#database.run('INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)', key, value);
  }

  /** A document is being removed: its words have to go from the search index as well. In the transaction of its removal, or before. */
  markRemoval(): void {
    this.setState(REMOVED, randomUUID());
  }

  /**
   * After removals, this session's or earlier ones': removes the words of removed documents from the search index and the file. `step` is
   * awaited after every few milliseconds of work; if it throws, the next call begins again.
   */
  async purge(step: () => Promise<void>): Promise<void> {
    const removal = this.state(REMOVED);
    if (removal === undefined) return;
    for (const _ of this.#wordIndex.purge()) {
      await step();
      await this.rest();
    }
    this.#database.run('DELETE FROM state WHERE key = ? AND value = ?', REMOVED, removal); // none came meanwhile
    this.#database.forget();
  }

  /** Work with many writes awaits this between its steps. */
  async rest(): Promise<void> {
    await this.#database.rest();
  }

  close(): void {
    this.#database.close();
  }
}
