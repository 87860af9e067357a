/** MCP on both sides: what clients send to Kvasir's server, over HTTP and as a stream, and what servers answer to its client. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { onTestFinished } from 'vitest';
import { mcpOverHttp } from '../../../src-main/hosts/http/mcp.ts';
import type { McpCore } from '../../../src-main/hosts/mcp/core.ts';
import { createMcpServer } from '../../../src-main/hosts/mcp/server.ts';
import { EventBus } from '../../../src-main/platform/event-bus.ts';
import { silentLogger } from '../../../src-main/platform/logger.ts';
import { completionFixture } from '../../../src-main/testing/completions.ts';
import { McpServers } from '../../../src-main/tools/servers/mcp-servers.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { fromSchema, mutateJson, written, type Json, type JsonObject, type Schema } from '../json.ts';
import { mutate, pick, type Random } from '../mutate.ts';
import type { Target } from '../search.ts';

export interface HttpMessage {
  headers: Record<string, string>;
  body: string;
}

type Input =
  | ({ side: 'http' } & HttpMessage)
  | { side: 'stream'; lines: string }
  | { side: 'client'; status: number; type: string; answers: Record<string, string> };

export interface ToolSchema {
  name: string;
  inputSchema: Schema;
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  library: ['Notes', 'Notes', 'Twice', 'None', ''],
  document_id: ['1', '1', '2', 'x', '99999999999999999999'],
  sql: ['SELECT 1', 'DROP TABLE x', ''],
};
const TYPES = ['application/json', 'application/json', 'text/event-stream', 'text/html', ''];
const MOST_TEXT = 2 * 1024 * 1024;

export async function openMcp(): Promise<Target> {
  const core = fakeCore();
  const serve = mcpOverHttp(() => createMcpServer(core));
  const tools = await toolsOf(core);
  const client = await hostileServer();
  return {
    make: (random) => JSON.stringify(make(tools, random)),
    run: (text) => {
      const input = JSON.parse(text) as Input;
      if (input.side === 'http') return overHttp(serve, input);
      return input.side === 'stream' ? overStream(core, input) : client(input);
    },
    inputs: 150,
    reaches: ['http result', 'http error', 'http 400', 'stream 1', 'client no tools', 'client result'],
  };
}

function make(tools: readonly ToolSchema[], random: Random): Input {
  const side = pick(['http', 'http', 'stream', 'client'] as const, random);
  if (side === 'client') return hostileAnswers(random);
  if (side === 'http') return { side, ...httpMessage(tools, random) };
  return {
    side,
    lines: `${damaged(clientMessage(tools, random), random)}\n${clientMessage(tools, random)}\n`,
  };
}

function damaged(text: string, random: Random): string {
  return random() < 0.1 ? mutate(Buffer.from(text), random).toString('latin1') : text;
}

/** What a client sends over HTTP. */
export function httpMessage(tools: readonly ToolSchema[], random: Random): HttpMessage {
  const body = damaged(clientMessage(tools, random), random);
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (random() < 0.9) headers['Accept'] = 'application/json, text/event-stream';
  if (random() < 0.1) headers['Mcp-Session-Id'] = pick(['x', '', 'a'.repeat(5000)], random);
  if (random() < 0.1) headers['Mcp-Protocol-Version'] = pick(['2025-06-18', '1', '2999-01-01'], random);
  return { headers, body };
}

function clientMessage(tools: readonly ToolSchema[], random: Random): string {
  const { name, inputSchema } = pick(tools, random);
  const args = fromSchema(inputSchema, { random, root: inputSchema, words: WORDS });
  const call = { name, arguments: args, ...(random() < 0.2 && { _meta: { progressToken: 1 } }) };
  const [method, params] = pick<[string, JsonObject]>(
    [
      ...Array.from({ length: 6 }, (): [string, JsonObject] => ['tools/call', call]),
      [
        'initialize',
        { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      ],
      ['tools/list', {}],
      ['resources/list', random() < 0.5 ? {} : { cursor: '5' }],
      ['resources/read', { uri: 'kvasir://documents/1?offset=3' }],
      ['notifications/cancelled', { requestId: 1 }],
      ['ping', {}],
    ],
    random,
  );
  const id = method.startsWith('notifications') ? {} : { id: 1 };
  const message: Json = { jsonrpc: '2.0', ...id, method, params };
  return written(random() < 0.6 ? mutateJson(message, random) : message);
}

/** What a server says to each request; "§id" is the request's id. */
function hostileAnswers(random: Random): Input {
  const results: Record<string, Json> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    },
    'tools/list': {
      tools: [{ name: 'find', description: 'Finds', inputSchema: INPUT_SCHEMA, annotations: {} }],
    },
    'tools/call': { content: CONTENT, structuredContent: { x: 1 } },
  };
  const wrong = pick([...Object.keys(results), 'tools/list', 'tools/call', ''], random);
  const answers = Object.entries(results).map(([method, result]) => {
    const message: Json = { jsonrpc: '2.0', id: '§id', result };
    const text = written(method === wrong ? mutateJson(message, random) : message);
    return [method, method === wrong && random() < 0.2 ? mutate(Buffer.from(text), random).toString() : text];
  });
  const status = random() < 0.95 ? 200 : pick([202, 204, 301, 401, 404, 500], random);
  return {
    side: 'client',
    status,
    type: random() < 0.1 ? pick(TYPES, random) : 'application/json',
    answers: Object.fromEntries(answers) as Record<string, string>,
  };
}

const INPUT_SCHEMA = {
  type: 'object',
  properties: { query: { type: 'string' }, limit: { type: 'integer' } },
  required: ['query'],
};
const CONTENT = [
  { type: 'text', text: 'Found.' },
  { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  { type: 'resource_link', uri: 'x://y', name: 'y' },
  { type: 'resource', resource: { uri: 'x://y', text: 'z' } },
];

function fakeCore(): McpCore {
  const info = { path: 'a.txt', title: 'A', phase: 'ready', failure: null };
  const one = <T>(id: unknown, value: T): T => {
    if (String(id) === '1') return value;
    throw new KvasirError('NOT_FOUND', 'There is no such document.');
  };
  const libraries = ['Notes', 'Twice', 'Twice'].map((name, i) => ({
    id: String(i + 1),
    name,
    documents: 1,
    pending: 0,
    failed: 0,
  }));
  const table = { name: 't', sheet: '', rows: 1, totalsLeftOut: 0, columns: [] };
  const parts = {
    completions: completionFixture({ says: 'She lives in Oslo.' }).service,
    libraries: {
      list: () => libraries,
      documents: {
        get: (id: string) => one(id, info),
        readable: () => [{ id: 1, ...info }],
        text: ({ id, offset, limit }: { id: string; offset: number; limit: number }) =>
          one(id, { text: 'Weir'.slice(offset, offset + limit), length: 4, offset, pages: [] }),
      },
    },
    tables: {
      list: (id: string) => one(id, Promise.resolve({ tables: [table], changed: false })),
      query: (id: string) =>
        one(
          id,
          Promise.resolve({ columns: ['a'], rows: [[1]], truncated: false, tables: [table], changed: false }),
        ),
    },
    search: { query: () => Promise.resolve({ hits: [] }) },
    loader: { current: () => Promise.resolve() },
    log: silentLogger,
    version: '1',
  };
  return parts as unknown as McpCore;
}

export async function toolsOf(core: McpCore): Promise<ToolSchema[]> {
  const [here, there] = InMemoryTransport.createLinkedPair();
  await createMcpServer(core).connect(there);
  const client = new Client({ name: 'x', version: '1' });
  await client.connect(here);
  const { tools } = await client.listTools();
  await client.close();
  return tools as ToolSchema[];
}

/** How it ends, in a word. Rejects if the server fails. */
export async function overHttp(
  serve: (request: Request) => Promise<Response>,
  { headers, body }: HttpMessage,
): Promise<string> {
  const answer = await serve(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  const text = await answer.text();
  if (answer.status >= 500 || /is a defect/.test(text))
    throw new Error(`${answer.status}: ${text.slice(0, 1000)}`);
  if (answer.status >= 300) return `http ${answer.status}`;
  if (text === '') return 'http nothing';
  return /"(isError|error)":/.test(text) ? 'http error' : 'http result';
}

/** How many messages came back before the stream was closed. */
async function overStream(core: McpCore, { lines }: Input & { side: 'stream' }): Promise<string> {
  const [sent, received] = [new PassThrough(), new PassThrough()];
  let text = '';
  received.on('data', (data: Buffer) => (text += data.toString()));
  const server = createMcpServer(core);
  await server.connect(new StdioServerTransport(sent, received));
  sent.write(lines);
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  await server.close();
  if (/is a defect/.test(text)) throw new Error(text.slice(0, 1000));
  const messages = text.split('\n').filter((line) => line !== '');
  messages.forEach((line) => void JSON.parse(line));
  return `stream ${messages.length}`;
}

/** A server on this machine that answers as an input says. Returns what Kvasir's client makes of it. */
async function hostileServer(): Promise<(input: Input & { side: 'client' }) => Promise<string>> {
  let now: (Input & { side: 'client' }) | undefined;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data: Buffer) => (body += data.toString()));
    request.on('end', () => {
      const { id, method } = (body === '' ? {} : JSON.parse(body)) as { id?: Json; method?: string };
      const answer = now?.answers[method ?? ''];
      if (request.method !== 'POST') response.writeHead(405).end();
      else if (answer === undefined || !now) response.writeHead(202).end();
      else {
        const text = answer.replaceAll('"§id"', JSON.stringify(id ?? null));
        const isEvent = now.type === 'text/event-stream';
        response
          .writeHead(now.status, { 'Content-Type': now.type })
          .end(isEvent ? `data: ${text}\n\n` : text);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-fuzz-mcp-'));
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const config = join(dir, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { there: { type: 'http', url } } }));
  const options = {
    ...{ config, permissions: join(dir, 'permissions.json'), signIns: join(dir, 'sign-ins.json') },
    ...{ keyring: undefined, version: '1', events: new EventBus(), log: silentLogger },
    limits: { startMs: 250, callMs: 250 },
  };
  return async (input) => {
    now = input;
    const servers = new McpServers(options);
    try {
      return await used(servers);
    } finally {
      await servers.close();
    }
  };
}

async function used(servers: McpServers): Promise<string> {
  const [tool] = await servers.tools(new AbortController().signal, ['there']);
  const { servers: listed } = servers.list();
  const failure = listed[0]?.failure;
  if (failure && !failure.code.startsWith('MCP_')) throw new Error(JSON.stringify(failure));
  if (!tool) return 'client no tools';
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(tool.name))
    throw new Error(`a tool is called ${JSON.stringify(tool.name)}`);
  const { text, isError } = await tool.run(
    { query: 'x' },
    { signal: new AbortController().signal, scope: { libraryIds: [], documentIds: [] } },
  );
  if (typeof text !== 'string' || text.length > MOST_TEXT)
    throw new Error(`a result of ${typeof text}, ${text.length} long`);
  return isError ? 'client error' : 'client result';
}
