/** MCP servers as tools of conversations: real programs and HTTP servers, written with the SDK. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Scope } from '../src-shared/contract/search.ts';
import { EventBus } from '../src-main/platform/event-bus.ts';
import type { Logger } from '../src-main/platform/logger.ts';
import type { ServerLimits } from '../src-main/tools/servers/mcp-server.ts';
import { McpServers } from '../src-main/tools/servers/mcp-servers.ts';
import type { CallableTool, ToolResult } from '../src-main/tools/tool.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { streamable, type Sessions } from './support/mcp-http-server.ts';
import { behindSignIn } from './support/mcp-signed-in-server.ts';
import { testMcpServer } from './support/mcp-test-server.ts';

const PROGRAM = {
  command: process.execPath,
  args: [join(import.meta.dirname, 'support', 'mcp-server-child.ts')],
};
const SECRET = 'sk-0123456789';
const SCOPE: Scope = { libraryIds: [], documentIds: [] };
const never = new AbortController().signal;

function fixture(servers: Record<string, object>, limits: Partial<ServerLimits> = {}) {
  const dir = tempDir();
  onTestFinished(() => removeDir(dir));
  const config = join(dir, 'mcp.json');
  const write = (entries: Record<string, object>): void =>
    writeFileSync(config, JSON.stringify({ mcpServers: entries }));
  write(servers);
  const log: string[] = [];
  const line = (event: string, fields?: object): number => log.push(JSON.stringify({ event, ...fields }));
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  let changes = 0;
  const events = new EventBus();
  events.on(({ topic }) => topic === 'tools.changed' && changes++);
  const open = (): McpServers => {
    const permissions = join(dir, 'mcp-permissions.json');
    const signIns = join(dir, 'mcp-sign-ins.json');
    const opened = new McpServers({
      ...{ config, permissions, signIns, events, limits, log: logger },
      keyring: undefined,
      version: '1.0.0',
    });
    onTestFinished(() => opened.close());
    return opened;
  };
  const mcp = open();
  const run = async (name: string, args: object = {}, signal = never): Promise<ToolResult> => {
    const tool = (await toolsOf(mcp)).find((each) => each.name === name);
    if (!tool) throw new Error(`there is no tool ${name}`);
    return tool.run(args as Record<string, unknown>, { signal, scope: SCOPE });
  };
  const state = (name: string) => mcp.list().servers.find((server) => server.name === name);
  return { dir, mcp, run, state, write, open, config, log, changes: () => changes };
}

/** Those of all its servers. */
const toolsOf = (mcp: McpServers): Promise<CallableTool[]> =>
  mcp.tools(
    never,
    mcp.list().servers.map(({ name }) => name),
  );

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a program starts on first use, gets its variables only, and ends with Kvasir', async () => {
  process.env['KVASIR_TEST_PRIVATE'] = 'x';
  onTestFinished(() => void delete process.env['KVASIR_TEST_PRIVATE']);
  const { mcp, run, state, log } = fixture({ demo: { ...PROGRAM, env: { SECRET } } });
  expect(state('demo')).toMatchObject({ state: 'off', secrets: ['SECRET'], tools: [] });
  const echo = (await toolsOf(mcp)).find(({ name }) => name === 'demo__echo');
  expect(echo).toMatchObject({
    title: 'Echo',
    description: 'Repeats a text.',
    server: 'demo',
    allowed: false,
  });
  expect(echo?.parameters).toMatchObject({ type: 'object', required: ['text'] });
  expect(await run('demo__echo', { text: 'Hello 世界' })).toEqual({ text: 'Hello 世界', isError: false });
  expect(await run('demo__fail')).toEqual({ text: 'No such file.', isError: true });
  expect(await run('demo__echo', {})).toMatchObject({ isError: true });
  const { text: variables } = await run('demo__variables');
  expect(variables.split(' ')).toContain('SECRET');
  expect(variables).not.toContain('KVASIR_TEST_PRIVATE');
  expect(JSON.stringify(mcp.list()) + log.join('')).not.toContain(SECRET);
  const pid = Number((await run('demo__pid')).text);
  expect(isAlive(pid)).toBe(true);
  await mcp.close();
  expect(isAlive(pid)).toBe(false);
});

test('only the servers of a conversation are started', async () => {
  const { mcp, state } = fixture({ a: PROGRAM, b: PROGRAM });
  const tools = await mcp.tools(never, ['b']);
  expect(new Set(tools.map(({ server }) => server))).toEqual(new Set(['b']));
  expect([state('a')?.state, state('b')?.state]).toEqual(['off', 'ready']);
});

test('a crash during a call is an error of that call; the next use starts the program again', async () => {
  const { run, state } = fixture({ demo: { ...PROGRAM, env: { SECRET } } });
  const first = (await run('demo__pid')).text;
  const result = await run('demo__exit');
  expect(result).toEqual({
    text: expect.stringMatching(/program of demo ended.*out of luck/s) as string,
    isError: true,
  });
  expect(state('demo')).toMatchObject({ state: 'failed', failure: { code: 'MCP_EXITED' } });
  expect(JSON.stringify(state('demo'))).not.toContain(SECRET);
  expect((await run('demo__pid')).text).not.toBe(first);
  expect(state('demo')).toMatchObject({ state: 'ready', failure: null });
});

test.each([
  ['a program that does not exist', { command: 'kvasir-no-such-program' }, 'MCP_COMMAND', /no-such-program/],
  [
    'a program that is no server',
    { command: process.execPath, args: ['-e', 'console.error("not me")'] },
    'MCP_EXITED',
    /not me/,
  ],
  [
    'a variable that is not set',
    { ...PROGRAM, env: { KEY: '${KVASIR_NOT_SET}' } },
    'MCP_CONFIG',
    /KVASIR_NOT_SET/,
  ],
  [
    'an address where nothing is',
    { url: 'http://127.0.0.1:9/mcp' },
    'MCP_UNREACHABLE',
    /ECONNREFUSED|bad port/,
  ],
  ['an invalid entry', { args: [] }, 'MCP_CONFIG', /mcpServers\.demo/],
])('%s has no tools, and says why', async (_, entry, code, message) => {
  const { mcp, state } = fixture({ demo: entry });
  expect(await toolsOf(mcp)).toEqual([]);
  const { failure } = state('demo') ?? {};
  expect(failure).toMatchObject({ code, message: expect.stringMatching(message) as string });
  expect(failure?.advice).not.toBe('');
});

test('a program that starts too slowly is given up, a slow one is waited for', async () => {
  const slow = fixture({ demo: { ...PROGRAM, env: { SLOW_MS: '60000' } } }, { startMs: 500 });
  expect(await toolsOf(slow.mcp)).toEqual([]);
  expect(slow.state('demo')?.failure).toMatchObject({
    code: 'MCP_SLOW',
    message: expect.stringMatching(/within 0\.5 s/) as string,
  });
  const slower = fixture({ demo: { ...PROGRAM, env: { SLOW_MS: '1000' } } });
  const starting = toolsOf(slower.mcp);
  expect(slower.state('demo')?.state).toBe('starting');
  expect(await starting).not.toEqual([]);
});

test('a question that is stopped does not wait for a server', async () => {
  const { mcp } = fixture({ demo: { ...PROGRAM, env: { SLOW_MS: '60000' } } });
  await expect(mcp.tools(AbortSignal.timeout(200), ['demo'])).rejects.toMatchObject({ code: 'ABORTED' });
  await mcp.close();
});

test('a tool that a server adds later is seen', async () => {
  const { mcp, run, changes } = fixture({ demo: PROGRAM });
  await run('demo__grow');
  const before = changes();
  await vi.waitUntil(() => changes() > before, 5000);
  expect((await toolsOf(mcp)).map(({ name }) => name)).toContain('demo__grown');
  expect(await run('demo__grown')).toEqual({ text: 'new', isError: false });
});

test('a stopped call is cancelled at the server', async () => {
  const { run } = fixture({ demo: PROGRAM });
  await run('demo__pid');
  const call = run('demo__wait', { ms: 60_000, reports: false }, AbortSignal.timeout(300));
  await expect(call).rejects.toMatchObject({ code: 'ABORTED' });
  await vi.waitFor(async () => expect((await run('demo__cancelled')).text).toBe('1'));
});

test('progress extends the time limit of a call', async () => {
  const { run } = fixture({ demo: PROGRAM }, { callMs: 600 });
  expect(await run('demo__wait', { ms: 1500, reports: true })).toEqual({ text: 'waited', isError: false });
  const { text, isError } = await run('demo__wait', { ms: 60_000, reports: false });
  expect({ text, isError }).toEqual({
    text: 'wait timed out: no result and no progress for 0.6 s.',
    isError: true,
  });
  expect(await run('demo__echo', { text: 'still here' })).toMatchObject({ isError: false });
});

test('an allowed tool asks again when it is another; so says the list', async () => {
  const described = (DESCRIPTION: string) => ({ ...PROGRAM, env: { DESCRIPTION } });
  const { mcp, open, write, state } = fixture({ demo: described('Repeats a text.') });
  const allowed = async (from: McpServers): Promise<string[]> =>
    (await toolsOf(from)).filter((tool) => tool.allowed).map(({ name }) => name);
  expect(await allowed(mcp)).toEqual([]);
  mcp.allow('demo__echo');
  expect(await allowed(mcp)).toEqual(['demo__echo']);
  expect(await allowed(open())).toEqual(['demo__echo']);
  write({ demo: described('Repeats a text, and mails it.') });
  expect(await allowed(mcp)).toEqual([]);
  expect(state('demo')?.tools.find(({ name }) => name === 'echo')).toMatchObject({
    allowed: false,
    changed: true,
  });
});

test('a change of mcp.json stops and starts servers; a damaged file is named, and stays', async () => {
  const { mcp, run, state, write, config } = fixture({ demo: PROGRAM });
  const pid = Number((await run('demo__pid')).text);
  write({ other: PROGRAM });
  expect((await toolsOf(mcp)).every(({ server }) => server === 'other')).toBe(true);
  await vi.waitUntil(() => !isAlive(pid), 10_000);
  await mcp.enable('other', false);
  expect(state('other')).toMatchObject({ enabled: false, state: 'off' });
  expect(await toolsOf(mcp)).toEqual([]);
  writeFileSync(config, '{ "mcpServers": {');
  expect(mcp.list()).toMatchObject({ servers: [], failure: { code: 'MCP_CONFIG' } });
  expect(() => mcp.import(JSON.stringify({ servers: { demo: PROGRAM } }))).toThrow(/line 1/);
  expect(readFileSync(config, 'utf8')).toBe('{ "mcpServers": {');
});

async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close').catch(() => undefined);
  };
  onTestFinished(() => void (server.listening && stop()));
  return { port: (server.address() as AddressInfo).port, stop };
}

test('over HTTP: calls, headers, and a server that has forgotten the session', async () => {
  const keys: unknown[] = [];
  const sessions: Sessions = new Map();
  const { port } = await listening(streamable(keys, sessions));
  const { mcp, run, state } = fixture({
    web: { url: `http://127.0.0.1:${port}/mcp?key=${SECRET}`, headers: { 'X-Key': SECRET } },
  });
  expect(await run('web__echo', { text: 'a' })).toEqual({ text: 'a', isError: false });
  expect(new Set(keys)).toEqual(new Set([SECRET]));
  expect(state('web')).toMatchObject({ url: `http://127.0.0.1:${port}/mcp`, secrets: ['X-Key'] });
  expect(JSON.stringify(mcp.list())).not.toContain(SECRET);
  sessions.clear();
  expect(await run('web__echo', { text: 'b' })).toEqual({ text: 'b', isError: false });
});

test('over HTTP: a server that went away is an error of the call', async () => {
  const { port, stop } = await listening(streamable([]));
  const { mcp, state } = fixture({ web: { url: `http://127.0.0.1:${port}/mcp` } });
  const echo = (await toolsOf(mcp)).find(({ name }) => name === 'web__echo');
  await stop();
  expect(await echo?.run({ text: 'a' }, { signal: never, scope: SCOPE })).toMatchObject({ isError: true });
  expect(state('web')).toMatchObject({ state: 'failed', failure: { code: 'MCP_UNREACHABLE' } });
});

test('over HTTP: a server of the older protocol, with SSE', async () => {
  // oxlint-disable typescript/no-deprecated -- such servers exist
  let transport: SSEServerTransport | undefined;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'POST' && request.url === '/sse') return void response.writeHead(405).end();
    if (request.method === 'POST') return transport?.handlePostMessage(request, response);
    transport = new SSEServerTransport('/messages', response);
    await testMcpServer().connect(transport);
  };
  // oxlint-enable typescript/no-deprecated
  const { port } = await listening((request, response) => void handle(request, response));
  const { run } = fixture({ old: { url: `http://127.0.0.1:${port}/sse` } });
  expect(await run('old__echo', { text: 'a' })).toEqual({ text: 'a', isError: false });
});

test('over HTTP: a server that requires a sign-in says so', async () => {
  const { port } = await listening((_, response) => response.writeHead(401).end());
  const { mcp, state } = fixture({ web: { url: `http://127.0.0.1:${port}/mcp` } });
  expect(await toolsOf(mcp)).toEqual([]);
  expect(state('web')?.failure).toMatchObject({ code: 'MCP_SIGN_IN' });
});

async function signInPage(
  state: () => ReturnType<McpServers['list']>['servers'][number] | undefined,
): Promise<URL> {
  const page = await vi.waitUntil(() => state()?.signInPage, 10_000);
  return new URL(page);
}

/** Where the browser goes from the sign-in page. */
const returning = (page: URL, values: Record<string, string>): string => {
  const back = new URL(page.searchParams.get('redirect_uri') ?? '');
  back.search = String(new URLSearchParams(values));
  return back.href;
};

test('a sign-in is made in the browser, kept, renewed, and forgotten with the server', async () => {
  const tokens = new Set<string>();
  const { port } = await listening(behindSignIn(streamable([]), tokens));
  const { dir, mcp, open, run, state, log } = fixture({ web: { url: `http://127.0.0.1:${port}/mcp` } });
  expect(await toolsOf(mcp)).toEqual([]);
  expect(state('web')).toMatchObject({ failure: { code: 'MCP_SIGN_IN' }, signInPage: null });

  const signedIn = mcp.signIn('web');
  const page = await signInPage(() => state('web'));
  expect([page.pathname, page.searchParams.get('code_challenge_method')]).toEqual(['/authorize', 'S256']);
  const given = page.searchParams.get('state') ?? '';
  expect((await fetch(returning(page, { code: 'stolen', state: 'guessed' }))).status).toBe(400);
  expect(await (await fetch(returning(page, { code: 'code-1', state: given }))).text()).toMatch(
    /close this page/,
  );
  await signedIn;
  expect(state('web')).toMatchObject({ state: 'ready', failure: null, signInPage: null });
  await expect(fetch(returning(page, { code: 'code-2', state: given }))).rejects.toThrow();

  const later = open();
  expect(await toolsOf(later)).not.toEqual([]);
  tokens.clear(); // expired
  expect(await run('web__echo', { text: 'a' })).toEqual({ text: 'a', isError: false });
  expect(tokens.size).toBe(1);
  expect(JSON.stringify(mcp.list()) + log.join('')).not.toMatch(/access-|refresh-/);
  expect(readFileSync(join(dir, 'mcp-sign-ins.json'), 'utf8')).toContain('refresh-0123456789');
  await mcp.remove('web');
  expect(readFileSync(join(dir, 'mcp-sign-ins.json'), 'utf8')).not.toContain('refresh-');
});

test('a sign-in that is refused, or ended by closing, says so', async () => {
  const { port } = await listening(behindSignIn(streamable([]), new Set()));
  const { mcp, state } = fixture({ web: { url: `http://127.0.0.1:${port}/mcp` } });
  const refused = mcp.signIn('web');
  const page = await signInPage(() => state('web'));
  const values = { error: 'access_denied', state: page.searchParams.get('state') ?? '' };
  await fetch(returning(page, values));
  await refused;
  expect(state('web')?.failure).toMatchObject({
    code: 'MCP_SIGN_IN',
    message: expect.stringMatching(/access_denied/) as string,
  });
  const ended = mcp.signIn('web');
  await signInPage(() => state('web'));
  await mcp.close();
  await ended;
});
