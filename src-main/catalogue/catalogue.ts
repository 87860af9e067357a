import { openDatabase, type Database } from '../platform/database.ts';
import { ChunkTable, type ChunkRow } from './chunk-table.ts';
import { DocumentList } from './document-list.ts';
import { DocumentTable } from './document-table.ts';
import { LibraryTable } from './library-table.ts';
import { MIGRATIONS } from './schema.ts';
import { Statements } from './statements.ts';
import { TextTable } from './text-table.ts';

export type { ChunkRow } from './chunk-table.ts';

/**
 * What is known of libraries, their documents and chunks: an SQLite file. Removing a document removes its text and
 * chunks; the chunks' KV is the store's.
 */
export class Catalogue {
  /** For services that keep their own tables beside these (the search index). */
  readonly database: Database;
  readonly libraries: LibraryTable;
  readonly documents: DocumentTable;
  readonly documentList: DocumentList;
  readonly texts: TextTable;
  readonly chunkTable: ChunkTable;
  readonly #statements: Statements;

  private constructor(database: Database, path: string) {
    this.database = database;
    this.#statements = new Statements(database, path);
    this.libraries = new LibraryTable(this.#statements);
    this.documents = new DocumentTable(this.#statements);
    this.documentList = new DocumentList(this.#statements);
    this.texts = new TextTable(this.#statements);
    this.chunkTable = new ChunkTable(this.#statements);
  }

  /** STORE_READ_ONLY, STORE_VERSION, STORE_CORRUPT, DISK_FULL. */
  static open(path: string): Catalogue {
    return new Catalogue(openDatabase(path, MIGRATIONS), path);
  }

  /** Runs `work` in one transaction, and gives SQLite's failures their type. */
  transaction<T>(work: () => T): T {
    return this.#statements.transaction(work);
  }

  /** A chunk with what is needed to show where it came from. */
  chunk(id: number): ChunkRow | undefined {
    return this.chunkTable.get(id);
  }

  /** All chunks of a set in reading order: documents by path, their chunks by place. */
  chunks(chunkSetId: number): Generator<ChunkRow> {
    return this.chunkTable.inReadingOrder(chunkSetId);
  }

  /** Label of the page (slide, sheet, chapter) that a place of a document's text is on; null where its format has none. */
  pageLabel(documentId: number, offset: number): string | null {
    return this.documents.pageLabel(documentId, offset);
  }

  /** Small facts that outlive a run, e.g. that the queue is paused. */
  state(key: string): string | undefined {
    return this.#statements.value<string>('SELECT value FROM state WHERE key = ?', key);
  }

  setState(key: string, value: string): void {
    this.#statements.run('INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)', key, value);
  }

  close(): void {
    this.database.close();
  }
}
