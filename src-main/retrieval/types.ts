import type { Range } from '../../src-shared/contract/common.ts';
import type { Scope } from '../../src-shared/contract/search.ts';
import type { Retrieved } from './retriever.ts';

/** A chunk chosen for a prompt, and why. */
export interface FoundChunk extends Omit<Retrieved, 'ownScore'> {
  /** Ranges in the chunk's text that match words of the question. */
  highlights: Range[];
}

export interface Found {
  /** In prompt order: documents by their best chunk, the chunks of a document as they stand in it. */
  chunks: FoundChunk[];
  usedVectors: boolean;
  ms: number;
}

/** What chat needs of retrieval. */
export interface Retrieval {
  /** Chunks that are found where nobody says how many: by their size. */
  readonly usualTopK: number;
  /** At most `topK` chunks from the scope; none when nothing matches. */
  find(
    question: string,
    options: { scope: Scope; topK?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Found>;
}

/** What retrieval needs of the library: where to look. */
export interface ChunkSets {
  /** Tokens in a chunk at most; undefined while no model is loaded. */
  readonly chunkTokens: number | undefined;
  /** The chunk sets of these libraries (all when the list is empty) for the active model and chunk size. */
  chunkSets(libraryIds: readonly string[]): number[];
  /** Documents of these libraries that are not cut for the active model yet, with the sets that stand in. Absent: none. */
  standIns?(libraryIds: readonly string[]): ReadonlyMap<number, number>;
  /** The libraries that a question about these is asked of (a list of none: about whatever there is). Absent: as they are. */
  asked?(libraryIds: readonly string[]): readonly string[];
}

/** What the library's queue needs of retrieval; full text is indexed by the chunk table's own triggers. */
export interface DocumentIndexer {
  /** Tokens of a document's chunks that have no vector yet; 0 where no embedding model is in use. */
  missingTokens(chunkSetId: number, documentId: number): number;
  /** Makes a few of a document's missing vectors; gives the tokens of their chunks, 0 when none is missing. ABORTED. */
  index(chunkSetId: number, documentId: number, signal: AbortSignal): Promise<number>;
}
