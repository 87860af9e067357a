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
const signIns = join(dir, 'mcp-sign-ins.json');
const events = new EventBus();
const servers = new McpServers({
  ...{ config, permissions, signIns, events, log },
  keyring: undefined,
  version: '1.0.0',
});
const listed = () => servers.list().servers[0];
const needsSignIn = () => listed()?.failure?.code === 'MCP_SIGN_IN';
try {
  const { signal } = new AbortController();
  await servers.start('suite');
  if (needsSignIn()) await signIn();
  const callAll = async (): Promise<void> => {
    for (const tool of await servers.tools(signal, ['suite']))
      console.log(await tool.run({ a: 5, b: 3 }, { signal, scope: { libraryIds: [], documentIds: [] } }));
  };
  await callAll();
  if (needsSignIn()) {
    await signIn(); // for more rights
    await callAll();
  }
  const failure = listed()?.failure;
  if (failure) throw new Error(failure.message);
} finally {
  await servers.close();
  rmSync(dir, { recursive: true });
}

/** The suite's authorization server signs everybody in, and sends the browser back. */
async function signIn(): Promise<void> {
  let opened: Promise<unknown> | undefined;
  events.on(() => {
    const page = listed()?.signInPage;
    if (page) opened ??= fetch(page);
  });
  await servers.signIn('suite');
  await opened;
}
