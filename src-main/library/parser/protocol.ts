import type { Failure, Range } from '../../../src-shared/contract/common.ts';
import type { TableInfo } from '../../../src-shared/tables.ts';
import type { RecognisedPage } from '../recognition/recognise.ts';
import type { ParsedDocument } from '../formats/format.ts';
import type { Passage } from '../formats/page/mark-passage.ts';
import type { PageView } from '../formats/page/page.ts';

/** A file, and what is to be done with it. One at a time. */
export interface FileRequest {
  id: number;
  /** Path of the file; '' when `bytes` contains it. */
  path: string;
  bytes?: Uint8Array | undefined;
  /** The file's name for people; for messages. */
  name: string;
  format: string;
  maxBytes: number;
}

/** To read the text of a document. */
export interface ParseRequest extends FileRequest {
  work: 'parse';
  /** Hash of the known bytes: the same bytes are not parsed again. */
  knownSha256: string | undefined;
  /** Of an HTML page, only its article. */
  article?: boolean | undefined;
}

/** To read rows of one sheet, for display. */
export interface SheetRequest extends FileRequest {
  work: 'sheet';
  /** Its index; undefined: the sheet of the passage, else the first that has rows. */
  sheet: number | undefined;
  offset: number;
  limit: number;
  /** UTF-16 range in the document's text whose rows are to be marked. */
  passage: Range | undefined;
}

/** A window of a sheet's rows. */
interface SheetPage {
  sheet: number;
  sheets: { name: string; rows: number; columns: number }[];
  /** Names of the columns shown; '' for those without. */
  header: string[];
  rows: { number: number; cells: string[]; marked: boolean }[];
  /** Index of the first row of the passage; null when it shows none. */
  firstMarked: number | null;
}

export interface TablesRequest extends FileRequest {
  work: 'tables';
  /** Whether to send their rows, as text: JSON, one list of rows a table. */
  withRows: boolean;
}

/** To recognise the text of a page that is a picture. */
export interface RecogniseRequest extends FileRequest {
  work: 'recognise';
  /** From 0. */
  page: number;
  /** Hash of the bytes that the page was found in; '' when the request brings them. */
  sha256: string;
}

/** To make a page of a document. */
interface ViewRequest extends FileRequest {
  work: 'view';
  /** A chapter or message, from 0. */
  part: number;
  passage: Passage | undefined;
}

/** What there is to do, by its name. */
export interface Works {
  parse: {
    request: ParseRequest;
    /** Without a document: the file has the known bytes. Its text is sent before. */
    result: { sha256: string; document?: Omit<ParsedDocument, 'text' | 'sheets'> };
  };
  /** NOT_FOUND for a sheet that the file does not have. */
  sheet: { request: SheetRequest; result: SheetPage };
  /** DOCUMENT_TOO_LARGE for more cells than can be queried. */
  tables: { request: TablesRequest; result: { sha256: string; tables: TableInfo[] } };
  recognise: {
    request: RecogniseRequest;
    /** Absent: the file has other bytes now. */
    result: { page?: RecognisedPage };
  };
  view: {
    request: ViewRequest;
    /** Its HTML is sent before. */
    result: Omit<PageView, 'html'>;
  };
}

export type WorkResult = Works[keyof Works]['result'];

/** A long text is sent in parts, so that no single message occupies the main process for long. */
export type WorkReply =
  | { id: number; type: 'text'; part: string }
  | { id: number; type: 'done'; result: WorkResult }
  | { id: number; type: 'failed'; failure: Failure };

/** Written to stderr before the process exits because it is out of memory. */
export const OUT_OF_MEMORY_MARK = 'kvasir-parser: out of memory';
