import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { McpCore } from './core.ts';
import { createMcpServer } from './server.ts';

/**
 * MCP over streamable HTTP, a server a request: there is nothing to remember between two of them, so there are no sessions, which
 * could be guessed, or would have to be ended. Who is let in is for the caller to say.
 */
export function mcpOverHttp(core: McpCore): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST') return onlyPost();
    const server = createMcpServer(core);
    const transport = new WebStandardStreamableHTTPServerTransport();
    await server.connect(transport);
    request.signal.addEventListener('abort', () => void server.close(), { once: true });
    return transport.handleRequest(request);
  };
}

/** Without sessions there is nothing to listen to, and nothing to end. */
function onlyPost(): Response {
  const error = { code: -32000, message: 'This server keeps no sessions: send requests by POST.' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 405, headers: { Allow: 'POST' } });
}
