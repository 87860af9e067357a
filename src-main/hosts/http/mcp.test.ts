import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { CallToolResultSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, test } from 'vitest';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { CompletionRun } from '../../completions/types.ts';
import type { McpCore } from '../mcp/core.ts';
import { readPart } from '../mcp/document-text.ts';
import { mcpOverHttp } from './mcp.ts';
import { MOST_TEXT, withinRoom } from '../mcp/search.ts';
import { createMcpServer } from '../mcp/server.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The parts of the core that a test needs. */
function core(parts: object): McpCore {
  return { log: LOG, version: '1', ...parts } as unknown as McpCore;
}

/** A library with one document. */
function withText(text: string, info: object = {}): McpCore {
  const documents = {
    get: () => ({ path: 'a.txt', phase: 'ready', failure: null, ...info }),
    text: ({ offset, limit }: { offset: number; limit: number }) => ({
      text: text.slice(offset, offset + limit),
      length: text.length,
      offset,
      pages: [],
    }),
  };
  return core({ libraries: { documents } });
}

function asked(name: string, input: object, signal?: AbortSignal): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
    signal: signal ?? null,
  });
}

const NOTES = { list: () => [{ id: '1', name: 'Notes' }] };

/** A core whose answers never arrive: it exposes the signal of each run. */
function waiting() {
  const begun = Promise.withResolvers<AbortSignal>();
  const never = (signal: AbortSignal): Promise<never> => {
    begun.resolve(signal);
    return new Promise(() => undefined);
  };
  const complete = (_: object, { signal }: CompletionRun): Promise<never> => never(signal);
  const query = (_: object, signal: AbortSignal): Promise<never> => never(signal);
  const loader = { current: () => Promise.resolve() };
  const parts = core({ completions: { complete }, search: { query }, loader, libraries: NOTES });
  return { parts, begun: begun.promise };
}

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return client;
}

const overHttp = (parts: McpCore) => mcpOverHttp(() => createMcpServer(parts));

function connectTo(answer: ReturnType<typeof mcpOverHttp>): Promise<Client> {
  const ask = (url: URL | string, init?: RequestInit): Promise<Response> => answer(new Request(url, init));
  return connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch: ask }));
}

const over = {
  HTTP: (parts: McpCore): Promise<Client> => connectTo(overHttp(parts)),
  'a stream': async (parts: McpCore): Promise<Client> => {
    const [here, there] = InMemoryTransport.createLinkedPair();
    await createMcpServer(parts).connect(there);
    return connect(here);
  },
};

describe.each(['HTTP', 'a stream'] as const)('over %s', (transport) => {
  test.each([
    ['ask', { question: 'Who?', library: 'Notes' }],
    ['search', { query: 'Who?' }],
  ])('%s is ended when the client cancels it', async (name, input) => {
    const { parts, begun } = waiting();
    const client = await over[transport](parts);
    const abort = new AbortController();
    const asked = client.callTool({ name, arguments: input }, undefined, { signal: abort.signal });
    const signal = await begun;
    expect(signal.aborted).toBe(false);
    abort.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => signal.aborted).toBe(true);
  });

  test('how far an answer is, is told to whoever asks', async () => {
    const complete = (_: object, { onBegin, onDelta }: CompletionRun): Promise<object> => {
      onBegin?.();
      for (let i = 0; i < 10; i++) onDelta?.({ text: 'x' });
      return Promise.resolve({ text: 'x', citations: [], finish: 'stop', made: { notices: [] } });
    };
    const client = await over[transport](core({ completions: { complete }, libraries: NOTES }));
    const told: { progress: number; message?: string | undefined }[] = [];
    const call = { name: 'ask', arguments: { question: 'Who?', library: 'Notes' } };
    await client.callTool(call, undefined, { onprogress: (each) => told.push(each) });
    expect(told.map(({ progress, message }) => [progress, message])).toEqual([
      [1, 'Waiting for the model.'],
      [2, 'Finding and reading passages.'],
      [3, 'Writing: 1 pieces of text.'],
      [4, 'Writing: 9 pieces of text.'],
    ]);
  });
});

test.each(['HTTP', 'a stream'] as const)('what models send is understood over %s', async (transport) => {
  const asked: unknown[] = [];
  const query = ({ scope, limit }: { scope: { libraryIds: string[] }; limit: number }) => {
    asked.push([scope.libraryIds, limit]);
    return Promise.resolve({ hits: [], newest: limit === 5 ? 20_000 : null });
  };
  const { libraries } = withText('abc', { title: 'A' });
  const loader = { current: () => Promise.resolve() };
  const list = () => [{ id: '1', name: 'Notes', documents: 1, pending: 0, failed: 0 }];
  const parts = core({ search: { query }, loader, libraries: { documents: libraries.documents, list } });
  const client = await over[transport](parts);
  const call = async (name: string, input: unknown): Promise<CallToolResult> =>
    client.request(
      { method: 'tools/call', params: { name, arguments: input as Record<string, unknown> } },
      CallToolResultSchema,
    );
  expect(await call('list_libraries', null)).not.toHaveProperty('isError');
  const newestOnly = async (input: object) =>
    (await call('search', input)).structuredContent?.['newest_only'];
  expect(await newestOnly({ query: 'x', library: null, limit: null })).toBeNull();
  expect(await newestOnly({ query: 'x', library: '', limit: '5', reason: 'because' })).toBe(20_000);
  await call('search', { query: 'x', library: '', limit: '' });
  await call('search', { query: 'x', library: 'Notes', limit: 5.0 });
  expect(asked).toEqual([
    [[], 6],
    [[], 5],
    [[], 6],
    [['1'], 5],
  ]);
  const read = await call('read_document', { document_id: 1, offset: '1', limit: null });
  expect(read.structuredContent).toMatchObject({ text: 'bc' });
  for (const limit of ['many', '0', 5.5, true])
    expect(await call('search', { query: 'x', limit })).toMatchObject({ isError: true });
  const { tools } = await client.listTools();
  const search = tools.find(({ name }) => name === 'search');
  expect(search?.inputSchema).toMatchObject({
    required: ['query'],
    properties: { limit: { type: 'integer', minimum: 1, maximum: 20 }, library: { type: 'string' } },
  });
});

test('over HTTP nobody cancels what another client asked, whatever its id', async () => {
  const { parts, begun } = waiting();
  const answer = overHttp(parts);
  const [client, other] = [await connectTo(answer), await connectTo(answer)];
  client.callTool({ name: 'search', arguments: { query: 'Who?' } }).catch(() => undefined);
  const signal = await begun;
  for (const requestId of [0, 1, 2, '1'])
    await other.notification({ method: 'notifications/cancelled', params: { requestId } });
  expect(signal.aborted).toBe(false);
  await client.notification({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await expect.poll(() => signal.aborted).toBe(true);
});

test('over HTTP a question that nobody waits for any more is ended', async () => {
  const { parts, begun } = waiting();
  const abort = new AbortController();
  await overHttp(parts)(asked('ask', { question: 'Who?', library: 'Notes' }, abort.signal));
  const signal = await begun;
  abort.abort();
  await expect.poll(() => signal.aborted).toBe(true);
});

test('over a stream all is ended with it', async () => {
  const { parts, begun } = waiting();
  const client = await over['a stream'](parts);
  client.callTool({ name: 'search', arguments: { query: 'Who?' } }).catch(() => undefined);
  const signal = await begun;
  await client.close();
  await expect.poll(() => signal.aborted).toBe(true);
});

test('a defect is told as one, without what is inside', async () => {
  const libraries = {
    list: () => {
      throw new Error('secret');
    },
  };
  const text = await (await overHttp(core({ libraries }))(asked('list_libraries', {}))).text();
  expect(text).toContain('this is a defect');
  expect(text).not.toContain('secret');
});

test('without sessions there is nothing but requests', async () => {
  const answer = await overHttp(core({}))(new Request('http://localhost/mcp'));
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

test('passages are told as long as there is room for them, and the first in any case', () => {
  const [short, long] = [{ text: 'x'.repeat(10) }, { text: 'x'.repeat(MOST_TEXT) }];
  expect(withinRoom([short, short])).toEqual([short, short]);
  expect(withinRoom([short, long, short])).toEqual([short]);
  expect(withinRoom([{ text: `${long.text}x` }, short])).toHaveLength(1);
  expect(withinRoom([])).toEqual([]);
});

test('a part of a text never ends within a character', () => {
  const text = 'ab🐟cd';
  expect(readPart(withText(text), '1', 0, 3).text).toBe('ab🐟');
  expect(readPart(withText(text), '1', 4, 3).text).toBe('cd');
  expect(readPart(withText(text), '1', 0, 2).text).toBe('ab');
});

test('a document without a text says why', () => {
  const failure = { code: 'DOCUMENT_ENCRYPTED', message: 'It wants a password.', advice: 'Remove it.' };
  expect(() => readPart(withText('', { phase: 'failed', failure }), '1', 0, 9)).toThrow(/password/);
  expect(() => readPart(withText('', { phase: 'waiting' }), '1', 0, 9)).toThrow(/not been read yet/);
  expect(readPart(withText(''), '1', 0, 9).text).toBe('');
});

test('what cannot be read has the code of why', async () => {
  const fails = (error: Error): McpCore => {
    const get = (): never => {
      throw error;
    };
    return core({ libraries: { documents: { get, text: get } } });
  };
  const read = async (parts: McpCore, uri: string): Promise<unknown> => {
    const client = await over['a stream'](parts);
    return client.readResource({ uri });
  };
  const gone = new KvasirError('NOT_FOUND', 'It is gone.');
  for (const [parts, uri, code] of [
    [fails(gone), 'kvasir://documents/5', -32002],
    [fails(gone), 'file:///etc/passwd', -32002],
    [withText('abc'), 'kvasir://documents/5?offset=9', -32602],
    [fails(new Error('broken')), 'kvasir://documents/5', -32603],
    [
      withText('', { failure: { code: 'DOCUMENT_ENCRYPTED', message: 'No.', advice: '' } }),
      'kvasir://documents/5',
      -32603,
    ],
  ] as const)
    await expect(read(parts, uri)).rejects.toMatchObject({ code, data: { uri } });
});
