/** The system prompt's KV survives a restart: with the real engine and the demo model. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AnswerStats } from '../src-shared/contract/chat.ts';
import { App } from '../src-main/app.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

const SYSTEM = 'Answer from the documents in one word, and say so where they do not tell. '.repeat(12);
const SETTINGS = {
  systemPrompt: SYSTEM,
  strategy: { name: 'query' as const },
  temperature: 0,
  storeMisses: false,
  maxTokens: 12,
};
const NEW = { scope: { libraryIds: [], documentIds: [] } };

function dataDir(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-prefixes-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return readyData(dir);
}

/** One run of the program on a folder; `ask` continues the conversation started there first. */
async function run<T>(
  dir: string,
  task: (app: App, ask: (question: string) => Promise<{ text: string; stats: AnswerStats }>) => Promise<T>,
): Promise<T> {
  const app = await App.open({ dataDir: dir, overrides: SETTINGS });
  try {
    await app.warmStart.close(); // a warm start would load prefixes, too
    const { model } = await app.loader.current();
    model.info.chatTemplate = ''; // the demo model's own template has no system prompt
    await readLibrary(app, { path: join(app.paths.sampleLibrary, 'people') });
    return await task(app, async (question) => {
      const id = app.chat.list()[0]?.id ?? app.chat.create(NEW).id;
      const { answerId } = app.chat.send(id, question);
      await app.chat.idle();
      const message = app.chat.get(id).messages.find((each) => each.id === answerId);
      if (!message?.stats) throw new Error(`no answer: ${JSON.stringify(message)}`);
      return { text: message.text, stats: message.stats };
    });
  } finally {
    await app.close();
  }
}

/** Every file that contains a prefix. */
function prefixFiles(app: App): string[] {
  const keys = app.store.list({ kind: 'prefix' }).map(({ key }) => key);
  const all = readdirSync(app.paths.store, { recursive: true, encoding: 'utf8' });
  return all
    .filter((file) => keys.some((key) => file.includes(key)))
    .map((file) => join(app.paths.store, file));
}

test('after a restart the next turn finds the system prompt on disk, and answers as without a restart', async () => {
  const [restarted, straight] = [await dataDir(), await dataDir()];
  const first = await run(restarted, async (app, ask) => {
    const answer = await ask('Where was Elsa Wexler born?');
    expect(app.store.list({ kind: 'prefix' })).toHaveLength(1);
    return answer;
  });
  expect(first.stats).toMatchObject({ prefixTokens: 0, restoredTokens: 0 });

  const second = await run(restarted, async (app, ask) => {
    const answer = await ask('And what does Elias Falk like?');
    expect(app.store.list({ kind: 'prefix' })).toHaveLength(1); // no second copy was written
    return { answer, system: (await app.loader.current()).model.tokenize(SYSTEM).length };
  });
  const { stats } = second.answer;
  expect(stats.restoredTokens).toBe(stats.prefixTokens);
  expect(stats.prefixTokens % 64).toBe(0);
  // The whole system prompt except its last partial block.
  expect(stats.prefixTokens).toBeGreaterThan(second.system - 64);
  expect(stats.residentTokens).toBe(stats.prefixTokens);
  // Passages are counted separately, wherever they are: a start loads some into memory.
  expect(stats.chunkHits.ram + stats.chunkHits.disk).toBeGreaterThan(0);

  await run(straight, async (app, ask) => {
    await ask('Where was Elsa Wexler born?');
    await app.store.evict({ keys: app.store.list({ kind: 'prefix' }).map(({ key }) => key) });
  });
  const same = await run(straight, (_, ask) => ask('And what does Elias Falk like?'));
  expect(same.stats).toMatchObject({ prefixTokens: 0, restoredTokens: 0 });
  expect(second.answer.text).toBe(same.text);
});

test('a warm start loads it, so that the first question finds it in memory', async () => {
  const dir = await dataDir();
  await run(dir, (_, ask) => ask('Where was Elsa Wexler born?'));
  const { stats } = await run(dir, async (app, ask) => {
    await app.chat.warmUp(new AbortController().signal);
    await app.store.evict({ keys: app.store.list({ kind: 'prefix' }).map(({ key }) => key) });
    return ask('And what does Elias Falk like?');
  });
  expect(stats.restoredTokens).toBeGreaterThan(0);
});

test('a damaged file is refused and set aside, and the answer is the same', async () => {
  const [dir, soundDir] = [await dataDir(), await dataDir()];
  const question = 'Where was Elsa Wexler born?';
  await run(soundDir, (_, ask) => ask(question));
  const sound = await run(soundDir, (_, ask) => ask(question));
  const file = await run(dir, async (app, ask) => {
    await ask(question);
    return prefixFiles(app)[0] ?? '';
  });
  const bytes = readFileSync(file);
  bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
  await run(dir, async (app, ask) => {
    const { stats, text } = await ask(question);
    expect(stats).toMatchObject({ prefixTokens: 0, restoredTokens: 0 });
    expect(text).toBe(sound.text);
    expect(app.store.stats().quarantine.files).toBe(1);
    expect(app.store.list({ kind: 'prefix' })).toHaveLength(1); // computed and stored again
  });
});
