import type { Failure } from '../../../src-shared/contract/common.ts';
import type { ParsedDocument } from '../formats/format.ts';

/** A file, and what is to be done with it. One at a time. */
interface FileRequest {
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
}

/** What there is to do, by its name. */
export interface Works {
  parse: {
    request: ParseRequest;
    /** Without a document: the file has the known bytes. Its text is sent before. */
    result: { sha256: string; document?: Omit<ParsedDocument, 'text'> };
  };
}

/** A long text is sent in parts, so that no single message occupies the main process for long. */
export type WorkReply =
  | { id: number; type: 'text'; part: string }
  | { id: number; type: 'done'; result: Works[keyof Works]['result'] }
  | { id: number; type: 'failed'; failure: Failure };

/** Written to stderr before the process exits because it is out of memory. */
export const OUT_OF_MEMORY_MARK = 'kvasir-parser: out of memory';
