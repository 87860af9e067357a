import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { DocumentText } from '../../../src-shared/contract/libraries.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { McpCore } from './core.ts';
import { addTool, wholeNumber } from './tool.ts';

const MOST_TEXT = 50_000;
const USUAL_TEXT = 20_000;

export const DocumentIdSchema = z
  .preprocess((given) => (typeof given === 'number' ? String(given) : given), z.string().min(1).max(20))
  .describe('As search and ask tell it');

const InputSchema = z.object({
  document_id: DocumentIdSchema,
  offset: wholeNumber(z.int().min(0).default(0))
    .default(0)
    .describe('Characters of the text before this one are left out'),
  limit: wholeNumber(
    z
      .int()
      .min(1)
      .max(MOST_TEXT, {
        error: `At most ${MOST_TEXT} characters are read at once: read on from next_offset.`,
      })
      .default(USUAL_TEXT),
  )
    .default(USUAL_TEXT)
    .describe('Characters at most'),
});

const OutputSchema = z.object({
  document: z.string().describe('Path of the document in its library'),
  title: z.string(),
  text: z.string(),
  offset: z.int(),
  length: z.int().describe('Characters of the whole text'),
  next_offset: z.int().nullable().describe('Where to read on; null at the end'),
  pages: z
    .array(z.object({ label: z.string(), start: z.int() }))
    .describe('Pages, slides, sheets or chapters that this part of the text touches, and where they begin'),
});

export function addReadTool(server: McpServer, core: McpCore): void {
  addTool(server, core.log, 'read_document', {
    title: 'Read a document',
    description: `The text of a document, ${USUAL_TEXT} characters at a time where nothing is said.`,
    input: InputSchema,
    output: OutputSchema,
    work: ({ document_id: id, offset, limit }) => {
      const { path, title } = core.libraries.documents.get(id);
      const part = readPart(core, id, offset, limit);
      const next = part.offset + part.text.length;
      return {
        document: path,
        title,
        text: part.text,
        offset: part.offset,
        length: part.length,
        next_offset: next < part.length ? next : null,
        pages: part.pages
          .filter(({ start, end }) => start < next && end > part.offset)
          .map(({ label, start }) => ({ label, start })),
      };
    },
  });
}

/**
 * A part of a text that ends between characters. NOT_FOUND, CONFLICT before it has been read, and any error of reading
 * it.
 */
export function readPart(
  { libraries: { documents } }: Pick<McpCore, 'libraries'>,
  id: string,
  offset: number,
  limit: number,
): DocumentText {
  const part = documents.text({ id, offset, limit: limit + 1 });
  const { failure, phase, path } = documents.get(id);
  if (part.length === 0 && failure) throw new KvasirError(failure.code, failure.message, failure.advice);
  if (part.length === 0 && phase !== 'ready')
    throw new KvasirError('CONFLICT', `${path} has not been read yet.`, 'Try again in a while.');
  if (offset > part.length) {
    const message = `The text of ${path} has ${part.length} characters only.`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Read from a smaller offset.');
  }
  return { ...part, text: whole(part.text, limit) };
}

/** `limit` UTF-16 units, and one more if a surrogate pair would be split. */
function whole(text: string, limit: number): string {
  const cut = text.slice(0, limit);
  return cut.isWellFormed() ? cut : text.slice(0, limit + 1);
}
