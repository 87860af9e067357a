/** The client that MCP's conformance suite tests: starts a server at the address given, and calls its tools. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventBus } from '../../src-main/platform/event-bus.ts';
import { silentLogger as log } from '../../src-main/platform/logger.ts';
import { McpServers } from '../../src-main/tools/servers/mcp-servers.ts';

const dir = mkdtempSync(join(tmpdir(), 'kvasir-conformance-client-'));
const config = join(dir, 'mcp.json');
const permissions = join(dir, 'mcp-permissions.json');
writeFileSync(config, JSON.stringify({ mcpServers: { suite: { url: process.argv.at(-1) } } }));
const servers = new McpServers({ config, permissions, version: '1.0.0', events: new EventBus(), log });
try {
  const { signal } = new AbortController();
  for (const tool of await servers.tools(signal)) console.log(await tool.run({ a: 5, b: 3 }, { signal }));
  const [{ failure } = { failure: null }] = servers.list().servers;
  if (failure) throw new Error(failure.message);
} finally {
  await servers.close();
  rmSync(dir, { recursive: true });
}
