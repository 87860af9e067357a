import type { Range } from '../../src-shared/contract/common.ts';
import type { FoundBy, Scope, SearchHit } from '../../src-shared/contract/search.ts';
import type { Hit } from '../catalogue/search-scope.ts';

/** Position in a ranking, from 1, and its score there. */
interface Rank {
  rank: number;
  score: number;
}

/** A chunk that matches on its own merits. */
export interface Match extends Hit {
  fullText: Rank | null;
  vector: Rank | null;
  /** By the reranker, which reads only the best matches; the score is 0 to 1. */
  reranked?: Rank | null;
}

/** The matches for a question, from any kind of search; plain data, since threads exchange it. */
export interface Ranking {
  /** Best first. */
  matches: Match[];
  /** The best chunk of each document that matches at all, with a score on the same scale. */
  best: ReadonlyMap<number, Match>;
  /** Similarity of the question's vector to unrelated passages; 0 without vectors. */
  unrelated: number;
}

/** A chunk chosen for a prompt. */
export interface RetrievedChunk extends Match {
  /** Comparable within one retrieval; larger is better. */
  score: number;
  /** The chunk's own score; 0 when it was added as a neighbour. */
  ownScore: number;
  reason: SearchHit['reason'];
}

/** A chunk chosen for a prompt, and why. */
export interface FoundChunk extends Omit<RetrievedChunk, 'ownScore'> {
  /** Ranges in the chunk's text that match words of the question. */
  highlights: Range[];
  foundBy?: FoundBy;
}

export interface RetrievalResult {
  /** In prompt order: documents by their best chunk, the chunks of a document in document order. */
  chunks: FoundChunk[];
  usedVectors: boolean;
  /** How many of the newest matches by words were ranked if there were more; null: all were. */
  newest: number | null;
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
  ): Promise<RetrievalResult>;
}

/** A search that costs no model. */
export interface WordSearch {
  /** Ids of at most `topK` chunks that contain words of the question: most of what find() gives. */
  byWords(question: string, options: { scope: Scope; topK?: number | undefined }): Promise<number[]>;
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

/** The first match of each document; of other documents those given. */
export function bestByDocument(
  matches: readonly Match[],
  others: Iterable<readonly [number, Match]> = [],
): Map<number, Match> {
  return new Map([...others, ...matches.toReversed().map((match) => [match.documentId, match] as const)]);
}
