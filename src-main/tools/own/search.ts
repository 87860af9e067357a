import { z } from 'zod';
import { findPassages, type FoundPassage, type Passages } from '../../answering/passages.ts';
import type { Retrieval } from '../../retrieval/types.ts';
import type { CallableTool } from '../tool.ts';
import { ownTool } from './own-tool.ts';

const MOST_PASSAGES = 12;
const USUAL_PASSAGES = 5;

const InputSchema = z.object({
  query: z.string().min(1).max(2000).describe('Words or a question'),
  limit: z.int().min(1).max(MOST_PASSAGES).optional().describe('Passages at most'),
});

/** The search of every question, in the documents of the conversation. */
export function searchTool(retrieval: Retrieval, passages: Passages): CallableTool {
  return ownTool({
    name: 'search_documents',
    title: 'Search documents',
    description:
      'Finds passages in the documents of the user by words and meaning. Call it if the passages in the conversation do not answer the question.',
    input: InputSchema,
    run: async ({ query, limit = USUAL_PASSAGES }, { scope, signal }) => {
      const { chunks } = await retrieval.find(query, { scope, topK: limit, signal });
      const found = findPassages(chunks, passages);
      return found.length === 0 ? 'Nothing was found.' : found.map(passageText).join('\n\n');
    },
  });
}

function passageText({ passage: { path, start, text }, page }: FoundPassage): string {
  return `${path}${page === null ? '' : `, page ${page}`}, from character ${start}:\n${text.trim()}`;
}
