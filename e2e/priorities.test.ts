/** A person's questions have priority over programs' requests: tested with the real engine and the demo model, by completion order. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { jsonGrammar } from '../src-main/answering/json-grammar.ts';
import type { CompletionRequest } from '../src-main/completions/types.ts';
import { readyData } from './support/ready-data.ts';

/** The model's number of concurrent answers. */
const AT_ONCE = 8;
const FULL = { kind: 'full' } as const;

let dir: string;
let app: App;

beforeAll(async () => {
  dir = await readyData(mkdtempSync(join(tmpdir(), 'kvasir-priorities-')));
  app = await App.open({ dataDir: dir });
  await app.loader.current();
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

/** An answer that cannot end before its context is full. */
function endless(): CompletionRequest {
  const items = { type: 'string', minLength: 1000 };
  const model = app.loader.active?.name ?? '';
  const messages = [{ role: 'user' as const, parts: [{ text: 'Write.' }] }];
  const json = { grammar: jsonGrammar({ type: 'array', items, minItems: 100 }) };
  return { model, prompt: { messages }, json };
}

test('a person is answered while programs occupy the model and more of them wait', async () => {
  const stop = new AbortController();
  const asked = Array.from({ length: AT_ONCE + 3 }, () =>
    app.completions.complete(endless(), { signal: stop.signal }).catch(() => undefined),
  );
  const taken = { waiting: 3, running: AT_ONCE };
  await expect.poll(() => app.completions.queue).toEqual(taken);
  const everything = { scope: { libraryIds: [], documentIds: [] } };
  const { id } = app.chat.create(everything);
  const { answerId } = app.chat.send(id, 'Where does Project Polaris run?');
  await app.chat.idle();
  expect(app.completions.queue).toEqual(taken);
  const answer = app.chat.get(id).messages.find((message) => message.id === answerId);
  expect(answer).toMatchObject({
    state: 'done',
    failure: null,
    text: expect.stringContaining('Riga') as string,
  });
  stop.abort();
  await Promise.all(asked);
});

test("a person's prompt is computed before a program's earlier, shorter one", async () => {
  const { model } = await app.localModels.current();
  const capacity = 2048;
  const [program, person] = [model.createSession(capacity), model.createSession(capacity)];
  const tokens = (count: number): Int32Array => Int32Array.from({ length: count }, (_, i) => 100 + (i % 400));
  const order: string[] = [];
  await Promise.all([
    program
      .append([{ kind: 'compute', tokens: tokens(1400) }], FULL, { priority: 1 })
      .then(() => order.push('program')),
    person.append([{ kind: 'compute', tokens: tokens(2000) }], FULL).then(() => order.push('person')),
  ]);
  expect(order).toEqual(['person', 'program']);
  program.dispose();
  person.dispose();
});

test("a chunk for a program's prompt is encoded while others are answered", async () => {
  const { model } = await app.localModels.current();
  const session = model.createSession(2048);
  const tokens = Int32Array.from({ length: 96 }, (_, i) => 100 + i);
  await session.append([{ kind: 'compute', tokens }], FULL);
  const stop = new AbortController();
  const order: string[] = [];
  const begun = Promise.withResolvers<undefined>();
  const grammar = jsonGrammar({
    type: 'array',
    items: { type: 'string', minLength: 1000 },
    minItems: 100,
  });
  const answer = session
    .generate({
      maxTokens: 1900,
      sampling: { grammar },
      signal: stop.signal,
      onToken: () => begun.resolve(undefined),
    })
    .then(() => order.push('answer'));
  await begun.promise;
  const chunk = await model.encodeChunk(tokens, 'f16', { priority: 1 });
  order.push('chunk');
  stop.abort();
  await answer;
  expect(order).toEqual(['chunk', 'answer']);
  chunk.dispose();
  session.dispose();
});
