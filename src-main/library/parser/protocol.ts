import type { Failure } from '../../../src-shared/contract/common.ts';
import type { ParsedHeading, ParsedPage } from '../formats/format.ts';

/** A request to the parser process. One document at a time. */
export interface ParseRequest {
  id: number;
  /** Path of the file; '' when `bytes` contains it. */
  path: string;
  bytes?: Uint8Array | undefined;
  /** The file's name for people; for messages. */
  name: string;
  format: string;
  maxBytes: number;
  /** Hash of the known bytes: the same bytes are not parsed again. */
  knownSha256: string | undefined;
}

/** A text is sent in parts, so that no single message occupies the main process for long. */
export type ParseReply =
  | { id: number; type: 'text'; part: string }
  | { id: number; type: 'unchanged'; sha256: string }
  | {
      id: number;
      type: 'done';
      sha256: string;
      title: string;
      headings: readonly ParsedHeading[] | undefined;
      pages: readonly ParsedPage[];
      warnings: readonly string[];
    }
  | { id: number; type: 'failed'; failure: Failure };

/** Written to stderr before the process exits because it is out of memory. */
export const OUT_OF_MEMORY_MARK = 'kvasir-parser: out of memory';
