import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { SearchHit } from '../../../src-shared/contract/search.ts';
import type { McpCore } from './core.ts';
import { LibraryNameSchema, libraryCalled } from './libraries.ts';
import { addTool, QuestionSchema, wholeNumber } from './tool.ts';

const MOST_PASSAGES = 20;
const USUAL_PASSAGES = 6;
/** Maximum characters of all passages of a response: about what a model can process. */
export const MOST_TEXT = 60_000;

const PassageSchema = z.object({
  text: z.string(),
  document: z.string().describe('Path of the document in its library'),
  document_id: z.string().describe('For read_document'),
  title: z.string(),
  page: z.string().nullable(),
  start: z
    .int()
    .describe('Where the passage begins in the text of the document; read_document reads on from there'),
  score: z.number().describe('Higher is better; comparable within one search'),
  rank_by_words: z.int().nullable().describe('From 1; null: it contains none of the words'),
  rank_by_meaning: z.int().nullable().describe('From 1; null: not by an embedding model'),
  reranker_score: z.number().nullable().describe('0 to 1; null: not read by a reranker'),
});

type Passage = z.infer<typeof PassageSchema>;

const InputSchema = z.object({
  query: QuestionSchema.describe('Words or a question'),
  library: z
    .preprocess((given) => (given === '' ? undefined : given), LibraryNameSchema.optional())
    .optional()
    .describe('Only in the library of this name; absent: in all'),
  limit: wholeNumber(
    z
      .int()
      .min(1)
      .max(MOST_PASSAGES, {
        error: `At most ${MOST_PASSAGES} passages are told: ask for fewer, or search for something narrower.`,
      })
      .default(USUAL_PASSAGES),
  )
    .default(USUAL_PASSAGES)
    .describe('Passages at most'),
});

const OutputSchema = z.object({
  passages: z.array(PassageSchema),
  left_out: z
    .int()
    .describe(
      'Passages that were found, but are too long to be told with the others: read_document has them',
    ),
  newest_only: z
    .int()
    .nullable()
    .describe(
      'The words are very common: only so many of the newest passages with them were ranked by words; a rarer word searches all. null: all were ranked',
    ),
});

export function addSearchTool(server: McpServer, core: McpCore): void {
  addTool(server, core.log, 'search', {
    title: 'Search documents',
    description:
      'Finds passages of the documents in the libraries by their words and, where an embedding model is in use, by their meaning. The best come first. ' +
      'The query may have filters: in:FOLDER (or a library), kind:pdf (or word, sheet, slides, mail, web, image, text), after:2024-01-31, before:2025.',
    input: InputSchema,
    output: OutputSchema,
    work: async ({ query, library, limit }, { signal }) => {
      const libraryIds = library === undefined ? [] : [libraryCalled(library, core).id];
      await core.loader.current(); // passages are chunked for a model: without one nothing is found
      const scope = { libraryIds, documentIds: [] };
      const { hits, newest } = await core.search.query({ text: query, scope, limit }, signal);
      const passages = withinRoom(hits.map(passageOf));
      return { passages, left_out: hits.length - passages.length, newest_only: newest };
    },
  });
}

/** The first passages that fit the limit together, and the first in any case. */
export function withinRoom<P extends { text: string }>(passages: readonly P[]): P[] {
  let room = MOST_TEXT;
  const end = passages.findIndex(({ text }, i) => (room -= text.length) < 0 && i > 0);
  return end < 0 ? [...passages] : passages.slice(0, end);
}

function passageOf(hit: SearchHit): Passage {
  const { text, path, documentId, title, page, start, score, fullText, vector, reranked } = hit;
  return {
    ...{ text, document: path, document_id: documentId, title, page, start, score },
    rank_by_words: fullText?.rank ?? null,
    rank_by_meaning: vector?.rank ?? null,
    reranker_score: reranked?.score ?? null,
  };
}
