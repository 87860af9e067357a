import type { Range } from '../../src-shared/contract/common.ts';
import type { Scope } from '../../src-shared/contract/search.ts';
import type { Retrieved } from './retriever.ts';

/** A chunk chosen for a prompt, and why. */
export interface FoundChunk extends Omit<Retrieved, 'ownScore'> {
  /** Ranges in the chunk's text that match words of the question. */
  highlights: Range[];
}

export interface Found {
  /** In prompt order: documents by their best chunk, the chunks of a document in document order. */
  chunks: FoundChunk[];
  usedVectors: boolean;
  ms: number;
}

/** The part of retrieval that chat needs. */
export interface Retrieval {
  /** Default number of passages, by their size. */
  readonly usualTopK: number;
  /** At most `topK` chunks from the scope; none when nothing matches. */
  find(
    question: string,
    options: { scope: Scope; topK?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<Found>;
}

/** The part of the library that retrieval needs: the sets to search. */
export interface ChunkSets {
  /** Tokens in a chunk at most; undefined while no model is loaded. */
  readonly chunkTokens: number | undefined;
  /** The chunk sets of these libraries (all when the list is empty) for the active model and chunk size. */
  chunkSets(libraryIds: readonly string[]): number[];
  /** Documents of these libraries that have no chunks for the active model yet, with the sets used instead. Absent: none. */
  standIns?(libraryIds: readonly string[]): ReadonlyMap<number, number>;
  /** The libraries that a question about these searches (an empty list: any library). Absent: unchanged. */
  asked?(libraryIds: readonly string[]): readonly string[];
}

/** The part of retrieval that the library's queue needs; full text is indexed by the chunk table's own triggers. */
export interface DocumentIndexer {
  /** Tokens of a document's chunks that have no vector yet; 0 when no embedding model is in use. */
  missingTokens(chunkSetId: number, documentId: number): number;
  /** Embeds a few of a document's chunks; returns their tokens, 0 when no vector is missing. ABORTED. */
  index(chunkSetId: number, documentId: number, signal: AbortSignal): Promise<number>;
}
