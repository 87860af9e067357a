/** Requests to the API's and the window's server, over HTTP: right by the API's own description, then mutated. */
import { Agent, request as send, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { api } from '../../../src-main/hosts/http/api/api.test-support.ts';
import { listen } from '../../../src-main/hosts/http/listener.ts';
import { testServer } from '../../../src-main/hosts/http/window/window.test-support.ts';
import type { DocumentViews } from '../../../src-main/library/document-views.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { fromSchema, mutateJson, written, type Schema } from '../json.ts';
import { mutate, pick, type Random } from '../mutate.ts';
import type { Target } from '../search.ts';

interface Input {
  app: 'api' | 'window';
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Latin-1. */
  body: string;
  /** The client goes after half of the body. */
  cut: boolean;
}

interface Operation {
  method: string;
  path: string;
  schema: Schema | undefined;
}

/** Those of the servers' tests. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  model: ['Fake', 'Fake', 'Fake', 'Fake', 'kvasir/Notes', 'kvasir/Twice', 'Letters', 'Judge', 'Other', 'x'],
  previous_response_id: ['resp_1'],
};
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
/** Below the window's secret path, which is {} here. */
const WINDOW_PATHS = [
  ...['/', '/?token=x', '/index.html', '{}', '{}/', '{}/index.html', '{}/assets/app-1a2b.js', '{}/none.js'],
  ...[
    '{}/socket',
    '{}/upload?library=1&path=a/b.txt',
    '{}/upload?model=m.gguf',
    '{}/upload?backup=b',
    '{}/upload',
  ],
  ...[
    '{}/document/1/file',
    '{}/document/1/page?part=1&start=0&end=9&dark',
    '{}/../secret.txt',
    '/favicon.ico',
  ],
];
const HEADERS: readonly (readonly [string, string])[] = [
  ['Accept', 'text/event-stream'],
  ['Accept-Encoding', 'br;q=9, gzip, \u00ff'],
  ['Authorization', 'Bearer x'],
  ['Content-Encoding', 'gzip'],
  ['Content-Type', 'text/plain'],
  ['Content-Type', 'application/json; charset=utf-16'],
  ['Content-Type', 'multipart/form-data; boundary=x'],
  ['Cookie', 'kvasir-1=x; a=%ff; =;;'],
  ['Expect', '100-continue'],
  ['Host', 'kvasir.example'],
  ['Host', ''],
  ['If-None-Match', '*'],
  ['Mcp-Session-Id', '\u00e4'],
  ['Origin', 'null'],
  ['Origin', 'http://localhost:1'],
  ['Range', 'bytes=-1,5-1,0-99999999999999999999'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Upgrade', 'websocket'],
  ['X-Forwarded-For', '::1'],
];

export async function openHttp(): Promise<Target> {
  const { routes } = api({ says: 'She lives in Oslo. Ünï 文.' });
  const listener = await listen({ fetch: routes.fetch, host: '127.0.0.1', port: 0, advice: '' });
  onTestFinished(() => listener.close());
  const window = await testServer({}, undefined, 0, VIEWS);
  const description = (await (
    await routes.request('/openapi.json', { headers: HOST })
  ).json()) as Description;
  const operations = operationsOf(description);
  const agent = new Agent({ keepAlive: true });
  const servers = {
    api: { port: listener.port, base: '', cookie: '' },
    window: { port: window.server.port, base: window.base.replace(/\/$/, ''), cookie: await window.enter() },
  };
  return {
    make: (random) => JSON.stringify(make(operations, description, random)),
    run: (text) => {
      const input = JSON.parse(text) as Input;
      return run(input, { ...servers[input.app], agent });
    },
    inputs: 250,
    reaches: ['200', '400', '404', '405', 'cut', 'window 200', 'window 404'],
  };
}

const HOST = { Host: '127.0.0.1' };

/** A document that is this file. */
const VIEWS = {
  file: (id: string) =>
    id === '1'
      ? Promise.resolve({ path: import.meta.filename, format: 'pdf', bytes: 4000 })
      : Promise.reject(new KvasirError('NOT_FOUND', 'There is none.')),
  page: () => Promise.resolve({ html: '<p>Weir</p>', parts: 1 }),
} as unknown as DocumentViews;

/** Of OpenAPI. */
interface Description {
  paths: Record<string, Record<string, { requestBody?: { content?: Record<string, { schema?: Schema }> } }>>;
}

function operationsOf({ paths }: Description): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => {
      const schema = requestBody?.content?.['application/json']?.schema;
      return { method: method.toUpperCase(), path, schema };
    }),
  );
}

function make(operations: readonly Operation[], root: unknown, random: Random): Input {
  const input = random() < 0.2 ? windowRequest(random) : apiRequest(pick(operations, random), root, random);
  if (random() < 0.05) input.method = pick(METHODS, random);
  if (random() < 0.1) input.path = mutate(Buffer.from(input.path), random).toString('latin1');
  for (let n = Math.floor(random() ** 2 * 3); n > 0; n--) {
    const [name, value] = pick(HEADERS, random);
    input.headers[name] = value;
  }
  if (random() < 0.1) input.body = mutate(Buffer.from(input.body, 'latin1'), random).toString('latin1');
  input.cut = input.body !== '' && random() < 0.03;
  return input;
}

function apiRequest({ method, path, schema }: Operation, root: unknown, random: Random): Input {
  const named = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(pick(WORDS['model'] ?? [], random)));
  const headers = { ...HOST, 'Content-Type': 'application/json' };
  const input: Input = { app: 'api', method, path: named, headers, body: '', cut: false };
  if (!schema) return input;
  const value = fromSchema(schema, { random, root, words: WORDS });
  const text = written(random() < 0.6 ? mutateJson(value, random) : value);
  const body = Buffer.from(random() < 0.002 ? text.padEnd(17 * 1024 * 1024) : text).toString('latin1');
  return { ...input, body };
}

function windowRequest(random: Random): Input {
  const path = pick(WINDOW_PATHS, random);
  const isUpload = path.includes('upload');
  const method = isUpload ? 'PUT' : 'GET';
  const headers = random() < 0.9 ? { Cookie: '{}', Origin: '{}' } : {};
  return { app: 'window', method, path, headers, body: isUpload ? 'GGUF' : '', cut: false };
}

interface Server {
  port: number;
  base: string;
  cookie: string;
  agent: Agent;
}

/** A status, with the window's name before it; or how a request ended without an answer. */
async function run({ app, method, path, headers, body, cut }: Input, server: Server): Promise<string> {
  const { port, base, cookie, agent } = server;
  const full = path.replace('{}', base).replaceAll(/[^\x21-\xff]/g, encodeURIComponent);
  const own = { Cookie: cookie, Origin: `http://127.0.0.1:${port}`, Host: `127.0.0.1:${port}` };
  const sent = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace('{}', own[name as 'Cookie']),
  ]);
  const options = {
    port,
    host: '127.0.0.1',
    method,
    path: full,
    agent,
    headers: Object.fromEntries(sent) as object,
  };
  const bytes = Buffer.from(body, 'latin1');
  const answer = await answerTo(options, bytes, cut);
  if (typeof answer === 'string') return answer;
  const text = await textOf(answer);
  const status = answer.statusCode ?? 0;
  if (status >= 500 || /is a defect/.test(text)) throw new Error(`${status}: ${text.slice(0, 1000)}`);
  if (method !== 'HEAD') check(answer, status, text);
  return app === 'api' ? String(status) : `window ${status}`;
}

function answerTo(options: object, bytes: Buffer, cut: boolean): Promise<IncomingMessage | string> {
  return new Promise((resolve) => {
    const sending = send({ ...options, ...(cut && { agent: false }) }, resolve);
    // The server closes the connection of a request that it does not read to its end.
    sending.on('error', ({ message }) => resolve(cut ? 'cut' : `no answer (${message})`));
    sending.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve('upgraded');
    });
    if (cut) {
      sending.write(bytes.subarray(0, bytes.length / 2), () => sending.destroy(new Error('cut')));
    } else sending.end(bytes);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** Answers are JSON or events of it, and failures are sentences. */
function check({ headers }: IncomingMessage, status: number, text: string): void {
  const type = headers['content-type'] ?? '';
  if (type.includes('event-stream')) {
    for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) if (data !== '[DONE]') JSON.parse(data);
    return;
  }
  if (!type.includes('json')) return;
  const { error } = JSON.parse(text.split('\n')[0] ?? '') as { error?: string | { message?: string } };
  if (status < 400) return;
  const said = typeof error === 'string' ? error : (error?.message ?? '');
  if (said === '' || /\[object |Error:|\n\s+at /.test(said))
    throw new Error(`${status} says ${JSON.stringify(said)}`);
}
