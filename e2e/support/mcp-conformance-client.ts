/** The client that MCP's conformance suite tests: starts a server at the address given, and calls its tools. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { EventBus } from '../../src-main/platform/event-bus.ts';
import { silentLogger as log } from '../../src-main/platform/logger.ts';
import { traceOf } from '../../src-main/platform/failure.ts';
import { McpServers } from '../../src-main/tools/servers/mcp-servers.ts';

/** Sends an address to this process and fails with its answer, if any: a client takes longer to load than to run. */
const RELAY = `
  const [, , port, url] = process.argv;
  const socket = process.getBuiltinModule('node:net').connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('data', (why) => { process.stderr.write(why); process.exitCode = 1; });
  socket.end(url);
`;

/** The command that the suite starts for each scenario. Until the test ends. */
export async function conformanceClient(): Promise<string> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    void text(socket)
      .then(callTools)
      .then(
        () => socket.end(),
        (error: unknown) => socket.end(traceOf(error)),
      );
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const relay = join(mkdtempSync(join(tmpdir(), 'kvasir-conformance-')), 'relay.mjs');
  onTestFinished(() => rmSync(join(relay, '..'), { recursive: true }));
  writeFileSync(relay, RELAY);
  return `"${process.execPath}" "${relay}" ${port}`;
}

async function callTools(url: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-conformance-client-'));
  const config = join(dir, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { suite: { url } } }));
  const permissions = join(dir, 'mcp-permissions.json');
  const signIns = join(dir, 'mcp-sign-ins.json');
  const events = new EventBus();
  const servers = new McpServers({
    ...{ config, permissions, signIns, events, log },
    keyring: undefined,
    version: '1.0.0',
  });
  const listed = () => servers.list().servers[0];
  const needsSignIn = () => listed()?.failure?.code === 'MCP_SIGN_IN';
  /** The suite's authorization server signs everybody in, and sends the browser back. */
  const signIn = async (): Promise<void> => {
    let opened: Promise<unknown> | undefined;
    events.on(() => {
      const page = listed()?.signInPage;
      if (page) opened ??= fetch(page);
    });
    await servers.signIn('suite');
    await opened;
  };
  try {
    const { signal } = new AbortController();
    await servers.start('suite');
    if (needsSignIn()) await signIn();
    const callAll = async (): Promise<void> => {
      for (const tool of await servers.tools(signal, ['suite']))
        await tool.run({ a: 5, b: 3 }, { signal, scope: { libraryIds: [], documentIds: [] } });
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
}
