/** The API's routes over a model that only counts, for tests: no socket. */
import { onTestFinished } from 'vitest';
import type { ModelEntry } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { completionFixture } from '../../../testing/completions.ts';
import type { FakeModelOptions } from '../../../testing/fusion.ts';
import type { ServerModel } from '../../../models/sources/servers/server-model.ts';
import { VectorService } from '../../../completions/vector-service.ts';
import { createApp } from '../app.ts';
import type { ErrorBody } from '../errors.ts';
import { Secrets } from '../../../platform/secrets.ts';
import { ApiMetrics } from './metrics.ts';
import { apiRoutes } from './routes.ts';

const DIMENSION = 2;

/** Of "Letters", which does not count these letters. */
const LETTERS = { question: 'q', passage: 'p' };

/** Each line of a fake "PDF" is a page and a chunk. */
const DOCUMENTS = {
  read: ({ bytes }: { bytes: Uint8Array }) => {
    const text = Buffer.from(bytes).toString();
    if (text === '') return Promise.reject(new KvasirError('DOCUMENT_NO_TEXT', 'It is empty.'));
    const lines = [...text.matchAll(/.+/g)];
    const pages = lines.map(({ 0: line, index }, i) => ({
      label: `p. ${i}`,
      start: index,
      end: index + line.length,
    }));
    return Promise.resolve({ text, pages, chunks: lines.map(([line]) => line) });
  },
};

/**
 * "Letters" embeds a text by counting its letters a and b; one token per letter, at most five. "Judge" is a reranker that looks for the
 * query in a text.
 */
function letterVectors(): VectorService {
  const countOf = (text: string, letter: string): number => text.split(letter).length - 1;
  const vector = (text: string): number[] => {
    const [a, b] = [countOf(text, 'a'), countOf(text, 'b')];
    return [a, b].map((each) => each / Math.hypot(a, b));
  };
  const info = { dimension: DIMENSION, contextTokens: 5 };
  const embedder = {
    info: info as never,
    countTokens: (text: string) => text.length,
    embed: (texts: readonly string[]) => Promise.resolve(Float32Array.from(texts.flatMap(vector))),
  };
  const rank = (query: string, texts: readonly string[]): Promise<Float32Array> =>
    Promise.resolve(Float32Array.from(texts, (text) => (text.includes(query) ? 0.75 : 0.25)));
  const reranker = { info: info as never, countTokens: (text: string) => text.length, rank };
  return new VectorService(
    { embedder: { id: 'e', identity: 'e', rules: LETTERS, embedder }, reranker: { id: 'r', reranker } },
    () => [
      { id: 'e', name: 'Letters', role: 'embedding', active: true },
      { id: 'r', name: 'Judge', role: 'reranker', active: true },
      { id: 's', name: 'Spare', role: 'reranker', active: false },
    ],
  );
}

/** Facts about the model in use. */
const FAKE = {
  name: 'Fake',
  role: 'chat',
  active: true,
  path: '/models/fake.gguf',
  architecture: 'llama',
  quantization: 'q4_K',
  parameterCount: 1_240_000_000,
  fileBytes: 750_000_000,
  layers: 16,
  fit: { device: 'CPU', contextTokens: 4096 },
} as ModelEntry;

export function api({
  keys = [],
  hosts,
  origins = [],
  separator,
  keepAliveMs,
  ...model
}: FakeModelOptions & {
  /** A model on a server, in place of the fake one. */
  server?: ServerModel;
  idle?: boolean;
  keys?: string[];
  hosts?: string[];
  origins?: string[];
  separator?: string;
  keepAliveMs?: number;
} = {}) {
  const { service: completions, model: fake } = completionFixture(model);
  const metrics = new ApiMetrics(completions);
  onTestFinished(() => metrics.close());
  const logged: unknown[] = [];
  const write = (_: string, fields?: object): void => void logged.push(fields);
  const core = {
    completions,
    vectors: letterVectors(),
    documents: DOCUMENTS,
    models: () => [FAKE],
    mcp: () => Promise.resolve(Response.json('mcp')),
    log: { debug: write, info: write, warn: write, error: write },
    separator,
    version: '1',
    clock: () => 5000,
    keepAliveMs,
  };
  const access = { keys: new Secrets(keys), hosts, origins };
  const routes = createApp(apiRoutes(core, access, metrics), core.log);
  const get = (path: string, headers: Record<string, string> = {}) =>
    Promise.resolve(routes.request(path, { headers }));
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    Promise.resolve(
      routes.request(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  return { get, post, model: fake, routes, logged };
}

/** The message of a refusal. */
export async function refused(
  answer: Promise<Response>,
): Promise<[status: number, param: string | null, message: string]> {
  const response = await answer;
  const { error } = (await response.json()) as ErrorBody;
  return [response.status, error.param, error.message];
}
