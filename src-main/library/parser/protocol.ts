import type { Failure } from '../../../src-shared/contract/common.ts';
import type { ParsedHeading, ParsedPage } from '../formats/format.ts';

/** What the parser process is asked. One document at a time. */
export interface ParseRequest {
  id: number;
  /** Where the file is; '' where `bytes` has it. */
  path: string;
  bytes?: Uint8Array | undefined;
  /** How people know the file; for messages. */
  name: string;
  format: string;
  maxBytes: number;
  /** Hash of the bytes that are known already: the same bytes are not parsed again. */
  knownSha256: string | undefined;
}

/** A text comes in parts, so that no single message takes the main process long. */
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

/** Written to stderr before the process gives up because of memory. */
export const OUT_OF_MEMORY_MARK = 'kvasir-parser: out of memory';
