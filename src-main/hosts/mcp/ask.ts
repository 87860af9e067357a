import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { modelNameOf } from '../../completions/names.ts';
import type { CompletionResult } from '../../completions/types.ts';
import type { McpCore } from './core.ts';
import { LibraryNameSchema, libraryCalled } from './libraries.ts';
import { addTool, QuestionSchema, wholeNumber } from './tool.ts';

const MOST_TOKENS = 4096;
/** Pieces of an answer, mostly tokens, per progress message. */
const PIECES_TOLD = 8;

const InputSchema = z.object({
  question: QuestionSchema,
  library: LibraryNameSchema,
  max_tokens: wholeNumber(
    z
      .int()
      .min(1)
      .max(MOST_TOKENS, { error: `An answer may have ${MOST_TOKENS} tokens at most: ask for less at once.` })
      .optional(),
  )
    .optional()
    .describe("Tokens of the answer at most; absent: as many as Kvasir's settings say"),
});

const OutputSchema = z.object({
  answer: z.string().describe('Marks such as [2] name the citation of that number'),
  citations: z.array(
    z.object({
      number: z.int(),
      document: z.string(),
      document_id: z.string().nullable(),
      title: z.string(),
      page: z.string().nullable(),
      start: z.int(),
      text: z.string(),
    }),
  ),
  complete: z.boolean().describe('false: the answer reached its limit of tokens'),
  notices: z.array(z.string()),
});

export function addAskTool(server: McpServer, core: McpCore): void {
  addTool(server, core.log, 'ask', {
    title: 'Ask a library',
    description:
      'Has the local model answer a question from the documents of a library, with citations. Slower than search, which only finds the passages.',
    input: InputSchema,
    output: OutputSchema,
    work: async ({ question, library, max_tokens }, { signal, progress }) => {
      const { name } = libraryCalled(library, core);
      let pieces = 0;
      const written = (): void => {
        if (pieces++ % PIECES_TOLD === 0) progress(`Writing: ${pieces} pieces of text.`);
      };
      progress('Waiting for the model.');
      const result = await core.completions.complete(
        {
          model: modelNameOf(name),
          prompt: { messages: [{ role: 'user', parts: [{ text: question }] }] },
          maxTokens: max_tokens,
        },
        {
          signal,
          onBegin: () => progress('Finding and reading passages.'),
          onThought: written,
          onDelta: written,
        },
      );
      return answerOf(result);
    },
  });
}

function answerOf({ text, citations, finish, made }: CompletionResult): z.infer<typeof OutputSchema> {
  return {
    answer: text,
    citations: citations.map(({ path, documentId, title, page, start, text: passage }, i) => ({
      number: i + 1,
      document: path,
      document_id: documentId,
      title,
      page,
      start,
      text: passage,
    })),
    complete: finish === 'stop',
    notices: made.notices.map(({ message }) => message),
  };
}
