import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { CallableTool } from '../tool.ts';
import { documentNamed } from './document-named.ts';
import { ownTool } from './own-tool.ts';

const MOST_CHARACTERS = 20_000;
const USUAL_CHARACTERS = 6000;

const InputSchema = z.object({
  document: z.string().min(1).max(1000).describe('Path, file name or title'),
  from: z.int().min(0).optional().describe('The first character, from 0'),
  length: z.int().min(1).max(MOST_CHARACTERS).optional().describe('Characters at most'),
});

/** The text of a document, a part at a time. */
export function readTool(catalogue: Catalogue): CallableTool {
  return ownTool({
    name: 'read_document',
    title: 'Read a document',
    description: `Returns the text of a document, ${USUAL_CHARACTERS} characters at a time.`,
    input: InputSchema,
    run: ({ document, from = 0, length = USUAL_CHARACTERS }, { scope }) => {
      const { id, path, textLength } = documentNamed(catalogue, document, scope);
      if (textLength === null)
        throw new KvasirError('CONFLICT', `${path} has not been read yet.`, 'Use another document.');
      if (from > 0 && from >= textLength)
        throw new KvasirError('BAD_ARGUMENT', `The text of ${path} has ${textLength} characters only.`);
      const text = catalogue.texts.slice(id, from, length).toWellFormed();
      const end = from + text.length;
      const rest = end < textLength ? `\n[The text goes on from character ${end}.]` : '';
      return `${path}, characters ${from} to ${end} of ${textLength}:\n${text}${rest}`;
    },
  });
}
