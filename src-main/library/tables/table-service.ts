import type { OutputOf, ParsedInputOf } from '../../../src-shared/contract/contract.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Settings } from '../../../src-shared/settings.ts';
import { hasSheets } from '../../../src-shared/sheets.ts';
import type { QueryResult, TableInfo } from '../../../src-shared/tables.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DocumentRow } from '../../catalogue/document-table.ts';
import type { SpawnChild } from '../../platform/ask-child.ts';
import { notFound, rowId } from '../../platform/ids.ts';
import type { ParserProcess } from '../parser/parser-process.ts';
import { filePath } from '../queue/reader.ts';
import { queryTablesIn, spawnQuery, type QueryTables } from './query-process.ts';

interface TableServiceOptions {
  catalogue: Catalogue;
  /** A process of its own: a view does not wait for documents that are being read. */
  parser: Pick<ParserProcess, 'do' | 'close'>;
  settings: { readonly current: Pick<Settings, 'maxFileBytes'> };
  spawnQuery?: SpawnChild | undefined;
}

/** The tables of a document, as its file has them now. */
interface Tables {
  tables: TableInfo[];
  /** Whether the file has changed since its text was read. */
  changed: boolean;
}

/**
 * Workbooks and other tables as rows. Nothing is stored: the file is read again, by the same parsers, so rows and text have the same
 * headers. Each method: NOT_FOUND, DOCUMENT_UNSUPPORTED for documents without sheets, and every DOCUMENT_… code.
 */
export class TableService {
  readonly #options: TableServiceOptions;
  readonly #query: QueryTables;

  constructor(options: TableServiceOptions) {
    this.#options = options;
    this.#query = queryTablesIn(options.spawnQuery ?? spawnQuery);
  }

  close(): void {
    this.#options.parser.close();
  }

  /** Rows of one sheet, for display. */
  async rows(input: ParsedInputOf<'documents.rows'>): Promise<OutputOf<'documents.rows'>> {
    const { id, ...window } = input;
    const document = this.#document(id);
    const { result } = await this.#options.parser.do<'sheet'>({
      work: 'sheet',
      ...this.#file(document),
      ...window,
      sheet: window.sheet,
      passage: window.passage,
    });
    const { rows, ...page } = result;
    const total = result.sheets[result.sheet]?.rows ?? 0;
    return { ...page, total, items: rows };
  }

  async list(id: string, signal?: AbortSignal): Promise<Tables> {
    const { tables, changed } = await this.#tables(id, false, signal);
    return { tables, changed };
  }

  /** Runs a SELECT statement over the tables of a document. TABLE_QUERY, TABLE_TIMEOUT, ABORTED. */
  async query(id: string, sql: string, signal?: AbortSignal): Promise<QueryResult & Tables> {
    const { tables, rows, changed } = await this.#tables(id, true, signal);
    return { ...(await this.#query({ sql, tables, rows }, signal)), tables, changed };
  }

  async #tables(id: string, withRows: boolean, signal?: AbortSignal): Promise<Tables & { rows: string }> {
    const document = this.#document(id);
    const request = { work: 'tables', ...this.#file(document), withRows } as const;
    const { text, result } = await this.#options.parser.do<'tables'>(request, signal);
    return { tables: result.tables, rows: text, changed: result.sha256 !== document.sha256 };
  }

  #document(id: string): DocumentRow {
    const document = this.#options.catalogue.documents.get(rowId(id, 'document'));
    if (!document) throw notFound('document');
    if (hasSheets(document.format)) return document;
    const message = `${document.path} has no sheets.`;
    throw new KvasirError('DOCUMENT_UNSUPPORTED', message, 'Choose a workbook or a CSV file.');
  }

  #file(document: DocumentRow): { path: string; name: string; format: string; maxBytes: number } {
    const { catalogue, settings } = this.#options;
    const { path: name, format } = document;
    return { path: filePath(catalogue, document), name, format, maxBytes: settings.current.maxFileBytes };
  }
}
