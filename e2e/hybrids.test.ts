/** Hybrids in the real program: what conversations, restarts and damaged files reuse of a checkpoint. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import type { AnswerStats } from '../src-shared/contract/chat.ts';
import { otherModel } from '../tools/random-model/other-models.ts';
import { DOCUMENTS, QUESTION, removeDir, tempDir, writeFiles } from './cli-support.ts';
import { startWithoutSample } from './support/ready-library.ts';

const SYSTEM = 'Answer from the documents in one word, and say so where they do not tell. '.repeat(3);
const OVERRIDES = { threads: 1, maxTokens: 12, chunkTokens: 64, temperature: 0, systemPrompt: SYSTEM };

let root: string;
let model: string;
beforeAll(() => {
  root = tempDir();
  model = otherModel('lfm2', root);
});
afterAll(() => removeDir(root));

interface Reply {
  conversation: string;
  text: string;
  stats: AnswerStats;
  notices: string[];
}

/** One run of the program on a data folder, which has the documents and the model after its first. */
async function run<T>(name: string, task: (app: App, ask: Ask) => Promise<T>): Promise<T> {
  const app = await App.open({ dataDir: join(root, name), overrides: OVERRIDES });
  try {
    await app.warmStart.close(); // a warm start would load checkpoints, too
    const known = app.models.list().find((entry) => entry.name === 'Random lfm2');
    const entry = known ?? (await app.models.import(model));
    await app.loader.activate(entry.id);
    await startWithoutSample(app);
    if (!known) {
      const { id } = app.libraries.create('Docs');
      const paths = [writeFiles(join(root, `${name}-docs`), DOCUMENTS)];
      await app.libraries.addPaths({ id, paths, watch: false });
    }
    const ready = (): boolean =>
      app.libraries.list().every(({ chunks, pending }) => chunks > 0 && pending === 0);
    await expect.poll(ready).toBe(true);
    return await task(app, (question, conversation) => ask(app, question, conversation));
  } finally {
    await app.close();
  }
}

type Ask = (question: string, conversation?: string) => Promise<Reply>;

async function ask(app: App, question: string, conversation?: string): Promise<Reply> {
  const id = conversation ?? app.chat.create({ scope: { libraryIds: [], documentIds: [] } }).id;
  const { answerId } = app.chat.send(id, question);
  await app.chat.idle();
  const message = app.chat.get(id).messages.find((each) => each.id === answerId);
  if (!message?.stats) throw new Error(`no answer: ${JSON.stringify(message)}`);
  const notices = message.notices.map(({ kind }) => kind);
  return { conversation: id, text: message.text, stats: message.stats, notices };
}

/** Files of the checkpoints with passages, the largest first. */
function checkpoints(app: App): string[] {
  const entries = app.store.list({ kind: 'prefix' }).toSorted((a, b) => b.tokens - a.tokens);
  const files = readdirSync(app.paths.store, { recursive: true, encoding: 'utf8' });
  return entries
    .flatMap(({ key }) => files.filter((file) => file.includes(key)))
    .map((file) => join(app.paths.store, file));
}

const LEAST = 0.8;

test('the same documents in another conversation, and after a restart, are not computed again', async () => {
  const first = await run('again', async (app, asks) => {
    const one = await asks(QUESTION);
    expect(one.stats).toMatchObject({ residentTokens: 0, prefixTokens: 0 });
    const other = await asks(QUESTION);
    expect(other.text).toBe(one.text);
    expect(other.stats.prefixTokens).toBeGreaterThan(LEAST * one.stats.promptTokens);
    const next = await asks('And who wrote it?', one.conversation);
    expect(next.stats.residentTokens).toBeGreaterThanOrEqual(one.stats.promptTokens);
    await app.chat.idle();
    expect(app.chat.report(app.chat.get(other.conversation).messages.at(-1)!.id)).toMatchObject({
      residentTokens: other.stats.residentTokens,
      plan: { obstacle: 'running-state' },
    });
    return one;
  });
  await run('again', async (app, asks) => {
    expect(app.store.stats().prefixes.entries).toBe(2); // the head, and the head with passages
    const restarted = await asks(QUESTION);
    expect(restarted.text).toBe(first.text);
    expect(restarted.stats.restoredTokens).toBeGreaterThan(LEAST * first.stats.promptTokens);
    expect(restarted.stats.restoredTokens).toBe(restarted.stats.residentTokens);
  });
});

test('a damaged checkpoint is a miss and is set aside; the answer is the same and says so', async () => {
  const first = (await run('damaged', (_, asks) => asks(QUESTION))).text;
  const [file = ''] = await run('damaged', (app) => Promise.resolve(checkpoints(app)));
  const bytes = readFileSync(file);
  bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
  await run('damaged', async (app, asks) => {
    const { text, stats, notices } = await asks(QUESTION);
    expect(text).toBe(first);
    expect(notices).toContain('quarantined');
    expect(stats.restoredTokens).toBe(0);
    expect(app.store.stats().quarantine.files).toBe(1);
  });
});

test('a removed document takes the checkpoints with passages along, not those of system prompts', async () => {
  await run('removed', async (_, asks) => asks(QUESTION));
  await run('removed', async (app) => {
    expect(checkpoints(app)).toHaveLength(2);
    const all = app.libraries.documents.list({
      search: '',
      phase: 'all',
      sort: 'path',
      descending: false,
      offset: 0,
      limit: 1,
    });
    await app.libraries.documents.delete(all.items.map(({ id }) => id));
    await expect
      .poll(() => app.store.list({ kind: 'prefix' }).map(({ label }) => label))
      .toEqual(['prompt beginning']);
  });
});
