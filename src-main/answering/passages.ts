import type { Citation, CitedSentence } from '../../src-shared/contract/chat.ts';
import type { Range } from '../../src-shared/contract/common.ts';
import type { FoundBy, Scope } from '../../src-shared/contract/search.ts';
import type { ChunkRow, ChunkSize } from '../catalogue/chunk-table.ts';
import type { FoundChunk } from '../retrieval/types.ts';
import type { ChunkOutcome, PassageSource } from '../fusion/blender.ts';
import type { TokensWithLead } from '../fusion/model.ts';

export type Tier = 'resident' | ChunkOutcome;

/** Index of a prompt's chunk part → the tier that its KV came from. */
export type PartTiers = ReadonlyMap<number, Tier>;

/** A chunk of a document, as in the catalogue. */
export type Passage = Omit<ChunkRow, 'documentTitle'> & {
  /** It was chunked for another model, since its document has no chunks for this one yet: its KV is not worth storing. */
  standsIn?: true;
};

/** The part of the library that chat needs. */
export interface Passages {
  chunk(id: number): Passage | undefined;
  /** Ids of the passages directly before and after one in its document. */
  neighbours(id: number): number[];
  /** undefined once the document is gone. */
  document(id: number): { path: string } | undefined;
  /** Documents in scope that no question finds yet, and which of them this question may be about. */
  unready(scope: Scope, question: string): UnreadyDocuments;
  /** What a scope has for the model in use: the chosen documents in their order, else all by path. */
  readable(scope: Scope): ReadableDocuments;
  /** Every passage of a document for the model in use, in order. */
  passagesOf(documentId: number): ChunkSize[];
  /** Tokens of a document, as chunked for the model in use; undefined when it is not. */
  tokensOf(documentId: number): number | undefined;
  /** The page label at this UTF-16 offset; null where a document has no pages. */
  pageLabel(documentId: number, offset: number): string | null;
}

/** Documents that can be read for a question, without a search. */
export interface ReadableDocuments {
  /** The first ones, as many as are worth listing. */
  documents: { id: number; path: string; tokens: number }[];
  /** Of all of them. */
  count: number;
  tokens: number;
  /** No chosen document lacks its chunks. */
  isComplete: boolean;
}

/** Documents that no question finds yet. */
export interface UnreadyDocuments {
  /** Their text has not been read. */
  reading: number;
  /** They have been read, but not chunked for any model. */
  uncut: number;
  /** Those whose path contains words of the question, with these words; best first. */
  matching?: readonly { path: string; words: readonly string[] }[];
  /** They stay unprocessed until the queue is resumed. */
  paused: boolean;
}

/** A chunk for a prompt: a passage of a library, or text that a client marks. */
export interface PromptChunk extends TokensWithLead {
  text: string;
  /** In lists of stored chunks. */
  label: string;
  /** Where it comes from, for reports. */
  source?: PassageSource | undefined;
  /** Decides which chunks to drop when not all fit. */
  score: number;
  /** Set for a passage, which is then a FoundPassage. */
  passage?: Passage | undefined;
}

/** A passage offered for the prompt, and why. */
export interface FoundPassage extends PromptChunk {
  passage: Passage;
  /** The page of its first match; a passage may begin a page earlier. */
  page: string | null;
  reason: string;
  /** Where it matches the question. */
  highlights: Range[];
  /** Absent: it was not searched for. */
  foundBy?: FoundBy | undefined;
}

/** What is known of a passage before it is read. */
type PassageRef = Pick<FoundPassage, 'score' | 'reason' | 'highlights' | 'foundBy'> &
  Pick<FoundChunk, 'chunkId'>;

export function findPassages(found: readonly PassageRef[], passages: Passages): FoundPassage[] {
  return found.flatMap(({ chunkId, score, reason, highlights, foundBy }) => {
    const passage = passages.chunk(chunkId);
    if (!passage) return [];
    const page = passages.pageLabel(passage.documentId, passage.start + (highlights[0]?.start ?? 0));
    const { path: document, title, ordinal } = passage;
    const [documentId, libraryId] = [String(passage.documentId), String(passage.libraryId)];
    const source = { document, documentId, libraryId, title, ordinal };
    const { text, tokens, lead } = passage;
    return [
      { passage, text, label: document, tokens, lead, source, score, reason, highlights, foundBy, page },
    ];
  });
}

export function isFound(chunk: PromptChunk): chunk is FoundPassage {
  return chunk.passage !== undefined;
}

/** The passages of a prompt for display; once there is an answer, the sentences that its own rest on are marked. */
export function citationsOf(
  prompt: { cited: readonly { chunk: PromptChunk; part: number }[] },
  tiers: PartTiers,
  sentences: readonly CitedSentence[] = [],
): Citation[] {
  const cited = prompt.cited.flatMap(({ chunk, part }) => (isFound(chunk) ? [{ chunk, part }] : []));
  const sources = sentences.flatMap((sentence) => sentence.sources);
  return cited.map(({ chunk: { passage, ...found }, part }, index) => {
    const supporting = rangesOf(sources.filter(({ citation }) => citation === index));
    return {
      documentId: String(passage.documentId),
      libraryId: String(passage.libraryId),
      path: passage.path,
      title: passage.title,
      page: found.page,
      ordinal: passage.ordinal,
      start: passage.start,
      end: passage.end,
      text: passage.text,
      highlights: supporting.length > 0 ? supporting : found.highlights,
      score: found.score,
      reason: found.reason,
      ...(found.foundBy && { foundBy: found.foundBy }),
      tier: tiers.get(part) ?? 'computed',
      tokens: found.tokens.length,
    };
  });
}

/** Ascending, each once. */
function rangesOf(ranges: readonly Range[]): Range[] {
  const byStart = new Map(ranges.map(({ start, end }) => [start, { start, end }]));
  return [...byStart.values()].sort((a, b) => a.start - b.start);
}

/** Citations of documents that are gone, or whose id now means another file, have no link; their text stays. */
export function withLivingDocuments(citations: readonly Citation[], passages: Passages): Citation[] {
  return citations.map((citation) => {
    const living = citation.documentId !== null && passages.document(Number(citation.documentId));
    return living && living.path === citation.path ? citation : { ...citation, documentId: null };
  });
}
