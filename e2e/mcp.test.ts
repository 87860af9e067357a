/** MCP's own client with the real program and the demo model: over stdio, and over streamable HTTP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { DOCUMENTS, removeDir, ROOT, tempDir, writeFiles } from './cli-support.ts';
import { DEMO, endApi, KEY, serveApi, type ApiServer } from './support/api-server.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

const LIBRARY = 'notes';
const LONG = `${'All is quiet. '.repeat(20_000)}The lighthouse is green.`;
const MANY = Object.fromEntries(
  Array.from({ length: 105 }, (_, i) => [`many/${i}.txt`, `Box ${i} is empty.`]),
);

const TOWNS = 'Town;Bridges;Toll\nOrm;7;1,50 €\nHollin;3;2,00 €\nEsk;5;0,50 €\n';

let dir: string;
beforeAll(async () => {
  dir = tempDir();
  const root = writeFiles(join(dir, LIBRARY), {
    ...DOCUMENTS,
    ...MANY,
    'long.txt': LONG,
    'towns.csv': TOWNS,
  });
  const app = await App.open({ dataDir: await readyData(join(dir, 'data')) });
  await readLibrary(app, { path: root, precompute: false });
  await app.close();
});
afterAll(() => removeDir(dir));

interface Passage {
  text: string;
  document: string;
  document_id: string;
  page: string | null;
  start: number;
  score: number;
}

interface Part {
  text: string;
  length: number;
  next_offset: number | null;
}

/** A tool's structured result; of a failure its text. */
async function call<T>(client: Client, name: string, input: object): Promise<T> {
  const params = { name, arguments: input as Record<string, unknown> };
  const result = CallToolResultSchema.parse(await client.callTool(params, undefined, { timeout: 300_000 }));
  const [text] = result.content.flatMap((each) => (each.type === 'text' ? [each.text] : []));
  if (result.isError === true) throw new Error(text);
  expect(JSON.parse(text ?? '')).toEqual(result.structuredContent);
  return result.structuredContent as T;
}

async function findMara(client: Client): Promise<Passage | undefined> {
  const query = 'Where does Mara Lind work?';
  const { passages } = await call<{ passages: Passage[] }>(client, 'search', { query, library: LIBRARY });
  expect(passages.map(({ score }) => score)).toEqual(
    passages.map(({ score }) => score).toSorted((a, b) => b - a),
  );
  return passages.find(({ text }) => text.includes('Oslo office'));
}

async function documentId(client: Client, path: string): Promise<string> {
  for (let cursor: string | undefined, left = true; left; left = cursor !== undefined) {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    const found = page.resources.find(({ name }) => name === path);
    if (found) return found.uri.replace('kvasir://documents/', '');
    cursor = page.nextCursor;
  }
  throw new Error(`${path} is not listed`);
}

/** Tests for both transports. */
function reads(connected: () => Client): void {
  test('lists its tools and resources, all read-only', async () => {
    const { tools } = await connected().listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'ask',
      'list_libraries',
      'list_tables',
      'query_table',
      'read_document',
      'search',
    ]);
    for (const { annotations, inputSchema, outputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
    }
    const { libraries } = await call<{ libraries: object[] }>(connected(), 'list_libraries', {});
    expect(libraries).toContainEqual(expect.objectContaining({ name: LIBRARY, documents: 110 }));
  });

  test('finds a passage, and reads on from it', async () => {
    const found = await findMara(connected());
    expect(found).toMatchObject({ document: 'mara.md', page: null });
    const input = { document_id: found?.document_id, offset: found?.start, limit: 50 };
    const { text } = await call<Part>(connected(), 'read_document', input);
    expect(found?.text.startsWith(text.slice(0, 40))).toBe(true);
  });

  test('lists the tables of a document, and queries them', async () => {
    const id = await documentId(connected(), 'towns.csv');
    const { tables } = await call<{ tables: { name: string; columns: { name: string; type: string }[] }[] }>(
      connected(),
      'list_tables',
      { document_id: id },
    );
    expect(tables[0]?.columns.map(({ name, type }) => [name, type])).toEqual([
      ['Town', 'text'],
      ['Bridges', 'number'],
      ['Toll', 'number'],
    ]);
    const sql = 'SELECT COUNT(*) AS towns, SUM("Toll") AS tolls FROM "Table" WHERE "Bridges" > 4';
    expect(await call(connected(), 'query_table', { document_id: id, sql })).toEqual({
      columns: ['towns', 'tolls'],
      rows: [[2, 2]],
      truncated: false,
      computed_from: [{ table: 'Table', rows: 3 }],
      changed: false,
    });
    const drop = { document_id: id, sql: 'DROP TABLE "Table"' };
    await expect(call(connected(), 'query_table', drop)).rejects.toThrow(/no SELECT statement/);
    const other = { document_id: await documentId(connected(), 'mara.md') };
    await expect(call(connected(), 'list_tables', other)).rejects.toThrow(/has no sheets/);
  });

  test('answers with a citation', async () => {
    const input = { question: 'Where does Mara Lind work?', library: LIBRARY };
    const { answer, citations } = await call<{
      answer: string;
      citations: { number: number; document: string; text: string }[];
    }>(connected(), 'ask', input);
    expect(answer).toMatch(/Oslo/);
    const mark = Number(/\[(\d+)\]/.exec(answer)?.[1]);
    expect(citations[mark - 1]).toMatchObject({ number: mark, document: 'mara.md' });
    expect(citations[mark - 1]?.text).toContain('Oslo office');
  });

  test("reports an answer's progress on request", async () => {
    const told: number[] = [];
    const input = { question: 'Where does Mara Lind work?', library: LIBRARY };
    const onprogress = ({ progress }: { progress: number }): void => void told.push(progress);
    await connected().callTool({ name: 'ask', arguments: input }, undefined, { onprogress });
    expect(told.slice(0, 3)).toEqual([1, 2, 3]);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
  });

  test('reads a long document part by part', async () => {
    const id = await documentId(connected(), 'long.txt');
    let text = '';
    for (let offset: number | null = 0; offset !== null;) {
      const part: Part = await call<Part>(connected(), 'read_document', {
        document_id: id,
        offset,
        limit: 50_000,
      });
      expect(part.length).toBe(LONG.length);
      expect(part.text.length).toBeLessThanOrEqual(50_000);
      text += part.text;
      offset = part.next_offset;
    }
    expect(text).toBe(LONG);
  });

  test('has documents as resources, listed in pages, and long ones in parts', async () => {
    const first = await connected().listResources();
    expect(first.resources).toHaveLength(100);
    const second = await connected().listResources({ cursor: first.nextCursor });
    const names = [...first.resources, ...second.resources].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([...Object.keys(MANY), ...Object.keys(DOCUMENTS), 'long.txt']),
    );
    const jon = [...first.resources, ...second.resources].find(({ name }) => name === 'jon.txt');
    const { contents } = await connected().readResource({ uri: jon?.uri ?? '' });
    expect(contents).toEqual([
      expect.objectContaining({ mimeType: 'text/plain', text: DOCUMENTS['jon.txt'] }),
    ]);
    const uri = `kvasir://documents/${await documentId(connected(), 'long.txt')}`;
    const [begun, behind] = (await connected().readResource({ uri })).contents;
    const rest = await connected().readResource({ uri: behind?.uri ?? '' });
    const textOf = (content: typeof begun): unknown => content && 'text' in content && content.text;
    expect(`${textOf(begun) as string}${textOf(rest.contents[0]) as string}`).toBe(LONG);
    await expect(connected().readResource({ uri: 'kvasir://documents/99999' })).rejects.toThrow(
      /does not exist/,
    );
    await expect(connected().readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(/look like/);
  });

  test('reports invalid requests with a reason and advice', async () => {
    const query = 'word '.repeat(3000);
    await expect(call(connected(), 'search', { query })).rejects.toThrow(
      /longer than 10,000 characters: say in fewer/,
    );
    await expect(call(connected(), 'search', { query: 'x', limit: 50 })).rejects.toThrow(/ask for fewer/);
    const nowhere = { question: 'x', library: 'none' };
    await expect(call(connected(), 'ask', nowhere)).rejects.toThrow(/no library called "none".*"notes"/);
    await expect(call(connected(), 'read_document', { document_id: '99999' })).rejects.toThrow(
      /does not exist/,
    );
    const far = { document_id: await documentId(connected(), 'jon.txt'), offset: 10_000 };
    await expect(call(connected(), 'read_document', far)).rejects.toThrow(/smaller offset/);
  });
}

interface ServerListeners {
  onStderr?: (text: string) => void;
  onError?: (error: Error) => void;
}

/** Starts a separate program that speaks MCP on a data folder. */
async function connectOverStdio(data: string, { onStderr, onError }: ServerListeners = {}): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, 'tools', 'run.mjs'), 'out/main/start.js', 'mcp', '--data', data],
    cwd: ROOT,
    env: { ...(process.env as Record<string, string>), KVASIR_SKIP_SETUP: '1' },
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (text: Buffer) => onStderr?.(String(text)));
  const client = new Client({ name: 'test', version: '1' });
  if (onError) client.onerror = onError;
  await client.connect(transport);
  return client;
}

/** The model's number of concurrent answers. */
const AT_ONCE = 8;

async function queue({ origin }: ApiServer, what: 'waiting' | 'running'): Promise<number> {
  const headers = { Authorization: `Bearer ${KEY}` };
  const text = await (await fetch(`${origin}/metrics`, { headers })).text();
  return Number(new RegExp(`^kvasir_queue_${what} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Occupies all of the model's slots with answers that cannot end before their context is full. */
async function occupied(server: ApiServer): Promise<{ end: () => Promise<void> }> {
  const stop = new AbortController();
  const schema = { type: 'array', items: { type: 'string', minLength: 1000 }, minItems: 100 };
  const body = JSON.stringify({
    model: DEMO,
    messages: [{ role: 'user', content: 'Write.' }],
    response_format: { type: 'json_schema', json_schema: { name: 'long', schema } },
  });
  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
  const answers = Array.from({ length: AT_ONCE }, () =>
    fetch(`${server.baseURL}/chat/completions`, { method: 'POST', headers, body, signal: stop.signal }).catch(
      () => undefined,
    ),
  );
  await expect.poll(() => queue(server, 'running')).toBe(AT_ONCE);
  return {
    end: async () => {
      stop.abort();
      await Promise.all(answers);
    },
  };
}

describe('over stdio', () => {
  let client: Client;
  const strange: Error[] = [];
  let told = '';

  beforeAll(async () => {
    client = await connectOverStdio(join(dir, 'data'), {
      onStderr: (text) => (told += text),
      onError: (error) => strange.push(error),
    });
  });
  // The program must end and release the data folder for the next one.
  afterAll(() => client.close());

  reads(() => client);

  test('writes only the protocol to stdout, and a banner to stderr', () => {
    expect(strange).toEqual([]);
    expect(told).toMatch(/serves MCP over stdin and stdout/);
  });

  test('serves a second program on the same data folder, which ends independently', async () => {
    const second = await connectOverStdio(join(dir, 'data'));
    expect(await findMara(second)).toMatchObject({ document: 'mara.md' });
    await second.close();
    expect(await findMara(client)).toMatchObject({ document: 'mara.md' });
  });
});

describe('over HTTP', () => {
  let server: ApiServer;
  let client: Client;
  const connect = async (key: string): Promise<Client> => {
    const to = new URL(`${server.origin}/mcp`);
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    const opened = new Client({ name: 'test', version: '1' });
    await opened.connect(new StreamableHTTPClientTransport(to, { requestInit }));
    return opened;
  };

  beforeAll(async () => {
    server = await serveApi(join(dir, 'data'));
    client = await connect(KEY);
  });
  afterAll(async () => {
    await client.close();
    await endApi(server);
  });

  reads(() => client);

  test('a cancelled question leaves the queue, and so does one whose client has disconnected', async () => {
    const input = { question: 'Where does Mara Lind work?', library: LIBRARY };
    const askBy = (by: Client, signal?: AbortSignal): Promise<unknown> =>
      by.callTool({ name: 'ask', arguments: input }, undefined, signal && { signal }).catch(() => undefined);
    const clients: [string, Client][] = [
      ['HTTP', await connect(KEY)],
      ['stdio', await connectOverStdio(join(dir, 'data'))],
    ];
    const busy = await occupied(server);
    for (const [transport, each] of clients) {
      const abort = new AbortController();
      const cancelled = askBy(each, abort.signal);
      await expect.poll(() => queue(server, 'waiting')).toBe(1);
      abort.abort();
      await cancelled;
      await expect.poll(() => queue(server, 'waiting'), { message: `cancelled over ${transport}` }).toBe(0);
      const left = askBy(each);
      await expect.poll(() => queue(server, 'waiting')).toBe(1);
      await each.close();
      await left;
      await expect.poll(() => queue(server, 'waiting'), { message: `left over ${transport}` }).toBe(0);
    }
    expect(await queue(server, 'running')).toBe(AT_ONCE);
    await busy.end();
    await expect.poll(() => queue(server, 'running')).toBe(0);
  });

  test('refuses requests without the key or with a foreign host name', async () => {
    await expect(connect('wrong')).rejects.toThrow(/not known here|401/);
    const headers = { Authorization: `Bearer ${KEY}`, Origin: 'http://evil.example' };
    expect((await fetch(`${server.origin}/mcp`, { method: 'POST', headers })).status).toBe(403);
  });
});
