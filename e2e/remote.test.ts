/** A model on another server: Kvasir's own API in a second process, used through the window's core. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { AddedServerSchema } from '../src-shared/contract/servers.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { DOCUMENTS, QUESTION, removeDir, expectFailure, tempDir, writeFiles } from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { readyLibrary } from './support/ready-library.ts';
import { DEMO, endApi, KEY, serveApi, type ApiServer } from './support/api-server.ts';
import { readyData } from './support/ready-data.ts';

const EVERYTHING = { scope: { libraryIds: [], documentIds: [] } };

let [there, here]: string[] = [];
let server: ApiServer;
let app: App;
let modelId: string;

beforeAll(async () => {
  there = await readyData(tempDir());
  here = tempDir();
  server = await serveApi(there);
  app = await App.open({ dataDir: here, overrides: { maxTokens: 12, chunkTokens: 64 } });
  const asked = AddedServerSchema.parse({ address: server.origin, model: DEMO, key: KEY });
  const { id } = await app.models.addServer(asked);
  modelId = id;
  await app.loader.activate(id);
  app.start();
  await readyLibrary(app, 'Docs', writeFiles(join(here, 'docs'), DOCUMENTS));
});
afterAll(async () => {
  await app.close();
  await endApi(server);
  removeDir(here!);
  removeDir(there!);
});

async function answered(id: string, answerId: string): Promise<Message> {
  await app.chat.idle();
  return app.chat.get(id).messages.find((message) => message.id === answerId)!;
}

/** Every file below a folder. */
function filesIn(dir: string): string[] {
  const all = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name));
  return all.filter((path) => statSync(path).isFile());
}

test("the server’s models are listed, with the server's key", async () => {
  const listed = await app.servers.ask(`${server.origin}/`, KEY);
  expect(listed.address).toBe(server.baseURL);
  expect(listed.models.map(({ id }) => id)).toContain(DEMO);
  await expect(app.servers.ask(server.origin, '')).rejects.toMatchObject({ code: 'REMOTE_KEY' });
  await expect(app.servers.ask(server.origin, 'wrong')).rejects.toMatchObject({ code: 'REMOTE_KEY' });
});

test("documents are ready without precomputing, and the list names the model's server", () => {
  const entry = app.models.list().find(({ id }) => id === modelId);
  expect(entry).toMatchObject({ origin: 'server', obstacle: 'remote', active: true, state: 'ready' });
  expect(entry?.server).toMatchObject({ host: new URL(server.origin).host, reach: 'here', key: 'file' });
  expect(app.libraries.list()).toMatchObject([{ cachedChunks: 0 }, { cachedChunks: 0 }]);
  expect(app.store.stats().entries).toBe(0);
});

test("a question is answered from passages, streamed, with the server's token counts", async () => {
  const told: string[] = [];
  const end = app.events.on((event) => {
    if (event.topic === 'chat.text') told.push(event.payload.text);
  });
  const { id } = app.chat.create(EVERYTHING);
  const { answerId } = app.chat.send(id, QUESTION);
  const first = await answered(id, answerId);
  end();
  expect(first).toMatchObject({ state: 'done', failure: null, hasReport: false });
  expect(first.citations.length).toBeGreaterThan(0);
  expect(first.text.length).toBeGreaterThan(0);
  expect(told.join('').trimEnd()).toBe(first.text);
  const stats = first.stats!;
  expect(stats.server).toMatchObject({ promptTokens: stats.promptTokens, answerTokens: stats.answerTokens });
  expect(stats).toMatchObject({ fullPrefillMs: null, residentTokens: 0, reusedTokens: 0 });
  expect(stats.ttftMs.server).toBeGreaterThan(0);
  const { total, ...parts } = stats.ttftMs;
  expect(Object.values(parts).reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(total, 3);
  expect(app.models.list().find((model) => model.id === modelId)?.server?.ttftMs).toBeGreaterThan(0);

  const second = await answered(id, app.chat.send(id, 'And what else is said there?').answerId);
  expect(second).toMatchObject({ state: 'done', failure: null });
  expect(second.stats!.server!.promptTokens).toBeGreaterThan(stats.server!.promptTokens!);
  // The server caches blocks of 64 tokens. The first prompt is shorter if its search finds one passage.
  const third = await answered(id, app.chat.send(id, 'And who is it?').answerId);
  expect(third.stats!.server!.cachedTokens).toBeGreaterThan(0);
  expect(app.chat.get(id).residentTokens).toBe(0);
});

test('an answer that was cut off at its limit is continued', async () => {
  const { id } = app.chat.create({ ...EVERYTHING, maxTokens: 3 });
  const { answerId } = app.chat.send(id, QUESTION);
  const cut = await answered(id, answerId);
  expect(cut.stats?.stop).toBe('length');
  app.chat.continue(id, answerId);
  const more = await answered(id, answerId);
  expect(more.failure).toBeNull();
  expect(more.text.startsWith(cut.text)).toBe(true);
});

test('stopping ends the request on the server, too', async () => {
  const { id } = app.chat.create({ ...EVERYTHING, maxTokens: 4000 });
  const { answerId } = app.chat.send(id, QUESTION);
  await expect.poll(() => app.chat.get(id).messages.at(-1)?.text ?? '').not.toBe('');
  app.chat.stop(id);
  const message = await answered(id, answerId);
  expect(message.failure).toBeNull();
  expect(message.text).not.toBe('');
  const busy = async (): Promise<string> => {
    const headers = { Authorization: `Bearer ${KEY}` };
    return (await fetch(`${server.origin}/metrics`, { headers })).text();
  };
  await expect.poll(async () => /running\S* ([1-9])/.test(await busy())).toBe(false);
});

test('other programs get answers from a library through it, with citations', async () => {
  const library = app.completions.models().find(({ name }) => name === 'kvasir/Docs');
  expect(library).toBeDefined();
  const result = await app.completions.complete(
    { model: 'kvasir/Docs', prompt: { messages: [{ role: 'user', parts: [{ text: QUESTION }] }] } },
    { signal: new AbortController().signal },
  );
  expect(result.text).not.toBe('');
  expect(result.citations.length).toBeGreaterThan(0);
});

test('unsupported options of other programs are refused, and no wrong counts are reported', async () => {
  const { name: model } = app.models.list().find(({ id }) => id === modelId)!;
  const { signal } = new AbortController();
  const prompt = { messages: [{ role: 'user' as const, parts: [{ text: 'Once upon a time' }] }] };
  const refused = { code: 'BAD_ARGUMENT' };
  for (const request of [
    { prompt: { text: [{ text: 'Once' }] } },
    { prompt, topTokens: 5 },
    { prompt, maxTokens: 0 },
  ])
    await expect(app.completions.complete({ model, ...request }, { signal })).rejects.toMatchObject(refused);
  await expect(app.completions.tokenize({ model, prompt }, true)).rejects.toMatchObject(refused);
  const told: object[] = [];
  const onPrompt = (usage: object): void => void told.push(usage);
  const { usage } = await app.completions.complete({ model, prompt, maxTokens: 3 }, { signal, onPrompt });
  expect([usage.promptTokens > 0, usage.completionTokens, told]).toEqual([true, 3, []]);
});

test('measurements that need a local model are refused with that reason', async () => {
  const { id } = app.chat.create(EVERYTHING);
  const { answerId } = app.chat.send(id, QUESTION);
  await answered(id, answerId);
  await expect(app.chat.measureFullPrefill(answerId)).rejects.toMatchObject({ code: 'MODEL_UNSUPPORTED' });
});

test('the key is in one file, readable only by its user: in no database, log, backup or answer to the window', async () => {
  const backup = await app.backups.create();
  expect(
    JSON.stringify([backup, app.models.list(), app.models.detail(modelId), app.settings.current]),
  ).not.toContain(KEY);
  const holding = filesIn(here!).filter((path) => readFileSync(path).includes(KEY));
  expect(holding).toEqual([app.paths.serverKeys]);
  if (process.platform !== 'win32') expect(statSync(app.paths.serverKeys).mode & 0o777).toBe(0o600);
});

test('the command line lists it and asks it; an unknown address is refused', async () => {
  const data = join(there!, 'cli');
  const cli = await App.open({ dataDir: data });
  await cli.models.addServer(AddedServerSchema.parse({ address: server.origin, model: DEMO, key: KEY }));
  await cli.close();
  const listed = await runHere(['model', 'list', '--data', data]);
  expect(listed.stdout).toContain(`${DEMO} on ${new URL(server.origin).host}`);
  const ask = (model: string) =>
    runHere(['ask', '--data', data, '--library', join(here!, 'docs'), '--model', model, '--json', QUESTION]);
  const answer = await ask(`${server.baseURL}#${DEMO}`);
  expect(answer.stderr).toContain('is on a server, which is sent passages as text');
  expect(answer.code).toBe(0);
  expect(JSON.parse(answer.stdout)).toMatchObject({ stop: 'eos', library: { precomputed: null } });
  expect(answer.stdout + answer.stderr + listed.stdout).not.toContain(KEY);
  const document = join(here!, 'docs', Object.keys(DOCUMENTS)[0]!);
  const model = `${server.baseURL}#${DEMO}`;
  const analysed = await runHere([
    'analyse',
    '--data',
    data,
    '--model',
    model,
    document,
    'What is said here?',
  ]);
  expect(analysed).toMatchObject({ code: 0 });
  expect(analysed.stdout.trim()).not.toBe('');
  expectFailure(await ask('http://127.0.0.1:9/v1#other'), 'MODEL_NOT_FOUND');
});

test('removing the model removes its key', async () => {
  await app.models.remove(modelId);
  expect(readFileSync(app.paths.serverKeys, 'utf8')).not.toContain(KEY);
  expect(app.loader.active?.id).toBe('demo');
});
