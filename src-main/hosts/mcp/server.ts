import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { addAskTool } from './ask.ts';
import type { McpCore } from './core.ts';
import { addReadTool } from './document-text.ts';
import { addListTool } from './libraries.ts';
import { addDocumentResources } from './resources.ts';
import { addSearchTool } from './search.ts';
import { addTableTools } from './tables.ts';

const INSTRUCTIONS =
  'Kvasir has libraries of documents on this machine, and a model that answers from them. list_libraries says which there are. ' +
  'search finds passages, read_document reads on from where one stands, query_table counts and sums over the rows of a workbook or CSV file ' +
  '(list_tables tells its columns), and ask has the local model answer with citations.';

/** Models send null for absent fields. */
class LenientServer extends McpServer {
  override connect(transport: Transport): Promise<void> {
    transport.onmessage = dropNulls; // called before the server's own listener
    return super.connect(transport);
  }
}

function dropNulls(message: JSONRPCMessage): void {
  if (!('method' in message) || message.method !== 'tools/call' || !message.params) return;
  const { arguments: given, ...params } = message.params;
  const said = Object.entries(given ?? {}).filter(([, value]) => value !== null);
  message.params = { ...params, arguments: Object.fromEntries(said) };
}

/** An MCP server for one connection over any transport. Read-only. */
export function createMcpServer(core: McpCore): McpServer {
  const server = new LenientServer({ name: 'kvasir', version: core.version }, { instructions: INSTRUCTIONS });
  addListTool(server, core);
  addSearchTool(server, core);
  addReadTool(server, core);
  addTableTools(server, core);
  addAskTool(server, core);
  addDocumentResources(server, core);
  return server;
}
