import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { testMcpServer } from './mcp-test-server.ts';

export type Sessions = Map<string, StreamableHTTPServerTransport>;

/** testMcpServer() over HTTP, with sessions as in the SDK's example; `keys` gets the header of each request. */
export function streamable(keys: unknown[], sessions: Sessions = new Map()): RequestListener {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    keys.push(request.headers['x-key']);
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) return void response.writeHead(404).end();
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (made) => void sessions.set(made, transport),
      });
    if (!known) await testMcpServer().connect(transport);
    await transport.handleRequest(request, response);
  };
  return (request, response) => void handle(request, response);
}
