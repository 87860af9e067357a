import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { McpCore } from './core.ts';
import { addTool } from './tool.ts';

/** Further ones are left out, with their number. */
const MOST_LISTED = 500;

export const LibraryNameSchema = z.string().min(1).max(200).describe('Its name, as list_libraries tells it');

const OutputSchema = z.object({
  libraries: z.array(
    z.object({
      name: z.string(),
      documents: z.int(),
      pending: z.int().describe('Documents that are still being read or prepared'),
      failed: z.int().describe('Documents that could not be read'),
    }),
  ),
  left_out: z.int().describe('Libraries beyond the first 500'),
});

export function addListTool(server: McpServer, { libraries, log }: McpCore): void {
  addTool(server, log, 'list_libraries', {
    title: 'List libraries',
    description:
      'The libraries of documents that can be searched and asked, with how many documents each has.',
    input: z.object({}),
    output: OutputSchema,
    work: () => {
      const all = libraries.list();
      const listed = all.slice(0, MOST_LISTED);
      return {
        libraries: listed.map(({ name, documents, pending, failed }) => ({
          name,
          documents,
          pending,
          failed,
        })),
        left_out: all.length - listed.length,
      };
    },
  });
}

/** NOT_FOUND, with alternatives; BAD_ARGUMENT if several have the name. */
export function libraryCalled(
  name: string,
  { libraries }: Pick<McpCore, 'libraries'>,
): { id: string; name: string } {
  const all = libraries.list();
  const [library, other] = all.filter((each) => each.name === name);
  if (!library) {
    const known = all.slice(0, MOST_LISTED).map((each) => JSON.stringify(each.name));
    const advice =
      known.length === 0 ? 'Add a library in the window of Kvasir.' : `There are: ${known.join(', ')}.`;
    throw new KvasirError('NOT_FOUND', `There is no library called ${JSON.stringify(name)}.`, advice);
  }
  if (other) {
    const message = `Two libraries are called ${JSON.stringify(name)}.`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Give one of them another name in the window of Kvasir.');
  }
  return library;
}
