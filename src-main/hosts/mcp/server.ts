import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { addAskTool } from './ask.ts';
import type { McpCore } from './core.ts';
import { addReadTool } from './document-text.ts';
import { addListTool } from './libraries.ts';
import { addDocumentResources } from './resources.ts';
import { addSearchTool } from './search.ts';

const INSTRUCTIONS =
  'Kvasir has libraries of documents on this machine, and a model that answers from them. list_libraries says which there are. ' +
  'search finds passages, read_document reads on from where one stands, and ask has the local model answer with citations.';

/** A server of MCP for one connection, whatever it goes over. It only reads. */
export function createMcpServer(core: McpCore): McpServer {
  const server = new McpServer({ name: 'kvasir', version: core.version }, { instructions: INSTRUCTIONS });
  addListTool(server, core);
  addSearchTool(server, core);
  addReadTool(server, core);
  addAskTool(server, core);
  addDocumentResources(server, core);
  return server;
}
