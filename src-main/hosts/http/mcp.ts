import { randomUUID } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CancelledNotificationSchema,
  isInitializeRequest,
  isJSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';

/** The header by which a client identifies its requests. */
const SESSION = 'mcp-session-id';

/**
 * MCP over streamable HTTP, one server per request: the only state between requests is which ones are running, so that
 * a client can cancel them. The id for that is issued on initialisation and used for nothing else. The caller handles
 * authentication.
 */
export function mcpOverHttp(createServer: () => McpServer): (request: Request) => Promise<Response> {
  /** Cancel functions of running requests, by client and request id. */
  const running = new Map<string, () => void>();
  return async (request) => {
    if (request.method !== 'POST') return onlyPost();
    const message: unknown = await request
      .clone()
      .json()
      .catch(() => undefined); // the transport reports the error
    const client = isInitializeRequest(message) ? randomUUID() : request.headers.get(SESSION);
    const cancelled = CancelledNotificationSchema.safeParse(message).data?.params.requestId;
    if (cancelled !== undefined) running.get(nameOf(client, cancelled))?.();
    const server = createServer();
    const transport = new WebStandardStreamableHTTPServerTransport();
    await server.connect(transport);
    const name = isJSONRPCRequest(message) ? nameOf(client, message.id) : undefined;
    const end = (): void => {
      if (name !== undefined) running.delete(name);
      void server.close();
    };
    if (name !== undefined && client !== null) running.set(name, end);
    request.signal.addEventListener('abort', end, { once: true });
    const answer = await transport.handleRequest(request);
    const headers = new Headers(answer.headers);
    if (isInitializeRequest(message) && client !== null) headers.set(SESSION, client);
    const body = answer.body?.pipeThrough(new TransformStream({ flush: end })) ?? null;
    return new Response(body, { status: answer.status, headers });
  };
}

/** Request ids are numbers or strings, and 1 is not "1". */
function nameOf(client: string | null, id: string | number): string {
  return JSON.stringify([client, id]);
}

/** There is nothing to listen to, and nothing to end. */
function onlyPost(): Response {
  const error = { code: -32000, message: 'This server sends nothing unasked: send requests by POST.' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 405, headers: { Allow: 'POST' } });
}
