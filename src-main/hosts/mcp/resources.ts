import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ListResourcesResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { McpCore } from './core.ts';
import { readPart } from './document-text.ts';
import { failureText } from './tool.ts';

/** The protocol's error code, which its package does not export. */
const RESOURCE_NOT_FOUND = -32002;
const LISTED_AT_ONCE = 100;
const MOST_TEXT = 200_000;
const ADDRESS = /^kvasir:\/\/documents\/(\d{1,15})(?:\?offset=(\d{1,15}))?$/;
const TEMPLATE = {
  name: 'document',
  title: 'A document of a library',
  uriTemplate: 'kvasir://documents/{id}{?offset}',
  description: `Its text, ${MOST_TEXT} characters at most, from an offset on.`,
  mimeType: 'text/plain',
};

/** All documents with text. Uses custom handlers, because those of McpServer do not support pagination. */
export function addDocumentResources({ server }: McpServer, core: McpCore): void {
  server.registerCapabilities({ resources: {} });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [TEMPLATE] }));
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => listed(core, params?.cursor));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => read(core, params.uri));
}

/** A cursor is the id of the last document sent, so additions and deletions do not shift pages. */
function listed({ libraries }: McpCore, cursor = '0'): ListResourcesResult {
  if (!/^\d{1,15}$/.test(cursor))
    throw new McpError(
      ErrorCode.InvalidParams,
      'This cursor is none of a list of documents: begin without one.',
    );
  const documents = libraries.documents.readable(Number(cursor), LISTED_AT_ONCE);
  const last = documents.at(-1);
  return {
    resources: documents.map(({ id, path, title }) => ({
      uri: addressOf(id),
      name: path,
      title,
      mimeType: TEMPLATE.mimeType,
    })),
    ...(last && documents.length === LISTED_AT_ONCE && { nextCursor: String(last.id) }),
  };
}

function read(core: McpCore, uri: string): ReadResourceResult {
  const [, id, from = '0'] = ADDRESS.exec(uri) ?? [];
  if (id === undefined)
    throw new McpError(
      RESOURCE_NOT_FOUND,
      `Addresses of documents look like ${addressOf(5)}: this one does not.`,
      { uri },
    );
  try {
    const { text, offset, length } = readPart(core, id, Number(from), MOST_TEXT);
    const end = offset + text.length;
    const next = `${addressOf(id)}?offset=${end}`;
    const goesOn = { uri: next, mimeType: TEMPLATE.mimeType, text: `The document goes on at ${next}.` };
    return {
      contents: [{ uri, mimeType: TEMPLATE.mimeType, text }, ...(end < length ? [goesOn] : [])],
    };
  } catch (error) {
    throw new McpError(codeOf(error), failureText(error, core.log), { uri });
  }
}

function codeOf(error: unknown): number {
  const code = error instanceof KvasirError ? error.code : undefined;
  if (code === 'NOT_FOUND') return RESOURCE_NOT_FOUND;
  return code === 'BAD_ARGUMENT' ? ErrorCode.InvalidParams : ErrorCode.InternalError;
}

function addressOf(id: number | string): string {
  return `kvasir://documents/${id}`;
}
