/** An edited document with the real engine and the demo model: cached chunks of the old text serve the new one. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FusionReportSchema } from '../src-shared/fusion-report.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { App } from '../src-main/app.ts';
import { blend, type BlendResult, type PromptPart } from '../src-main/fusion/blender.ts';
import { keyFor, type ChunkCache } from '../src-main/fusion/model.ts';
import type { Strategy } from '../src-main/engine/engine.ts';
import { readLibrary, type ReadLibrary } from './support/library.ts';

const QUESTION = 'Where does Team Ocelot work?';
const DOCUMENT = 'teams/team-ocelot.md';

let dir: string;
let app: App;
let library: ReadLibrary;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-partial-'));
  app = await App.open({ dataDir: join(dir, 'data') });
  app.settings.update({ storeMisses: false });
  cpSync(app.paths.sampleLibrary, join(dir, 'library'), { recursive: true });
  library = await readLibrary(app, { path: join(dir, 'library') });
});

afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Text, two cached passages, a question. */
function prompt(): PromptPart[] {
  const { model } = library;
  const chunks = [...library.chunks()]
    .slice(0, 2)
    .map(({ tokens }): PromptPart => ({ kind: 'chunk', tokens }));
  const text = (words: string): PromptPart => ({ kind: 'text', tokens: model.tokenize(words) });
  return [text('Read this. '), ...chunks, text('What colour are the shirts?')];
}

type Blended = BlendResult & { logits: Float32Array };

async function blended(store: ChunkCache, strategy: Strategy): Promise<Blended> {
  const { model } = library;
  const session = model.createSession(1024);
  try {
    const result: BlendResult = await blend(prompt(), { model, store, session, dtype: 'f16', strategy });
    return { ...result, logits: session.logits().slice() };
  } finally {
    session.dispose();
  }
}

/** A store that hides the passages' own keys but finds them as similar text. */
function withoutExact(store: ChunkCache): ChunkCache {
  const own = new Set(prompt().map((part) => keyFor(library.model, 'f16', part)));
  let asked = 0;
  return {
    has: (key) => store.has(key),
    isAway: (key) => store.isAway(key),
    entry: (key) => store.entry(key),
    hasRoom: (...args) => store.hasRoom(...args),
    found: (key) => store.found(key),
    used: (...args) => store.used(...args),
    put: (...args) => store.put(...args),
    borrow: (...args) => store.borrow(...args),
    stats: () => store.stats(),
    reportCorrupt: (key) => store.reportCorrupt(key),
    reportUnreadable: (key) => store.reportUnreadable(key),
    similar: (...args) => store.similar(...args),
    // A passage is requested by its own key first, then by the key of its match, which here is the same.
    acquire: async (key, opener) =>
      own.has(key) && asked++ % 2 === 0 ? undefined : store.acquire(key, opener),
  };
}

test.each<Strategy>([
  { kind: 'none' },
  { kind: 'deviation', checkLayers: [1], ratios: [0.2] },
  { kind: 'query', questionLayers: [1, 2], ratios: [0.2] },
])('a partial match without changes is bit-identical to the full match: %j', async (strategy) => {
  const { store } = app;
  // Chunks come from disk until they have been read into memory, which nothing waits for.
  const fromMemory = async (): Promise<Blended | false> => {
    const result = await blended(store, strategy);
    return result.outcomes.every((outcome) => outcome === 'ram') && result;
  };
  const exact = await vi.waitUntil(fromMemory, { timeout: 60_000 });
  const matched = await blended(withoutExact(store), strategy);
  expect(matched.outcomes).toEqual(exact.outcomes);
  expect(matched.reuse).toEqual(exact.reuse);
  expect(matched.report.selected).toEqual(exact.report.selected);
  expect(matched.logits).toEqual(exact.logits);
});

/** Asks in a new conversation. */
async function ask(text: string): Promise<Message> {
  const { id } = app.chat.create({
    scope: { libraryIds: [], documentIds: [] },
    strategy: { name: 'deviation', ratio: 0.15 },
  });
  const { answerId } = app.chat.send(id, text);
  await app.chat.idle();
  const answer = app.chat.get(id).messages.find((message) => message.id === answerId);
  if (!answer) throw new Error('no answer');
  expect(answer.failure).toBeNull();
  return answer;
}

test('an edited document answers from its cached chunks before the new text is precomputed', async () => {
  const before = await ask(QUESTION);
  expect(before.stats?.chunkHits).toMatchObject({ partial: 0, computed: 0 });

  const path = join(dir, 'library', DOCUMENT);
  const text = readFileSync(path, 'utf8');
  const edited = text.replace('They work from Jakarta.', 'They work from Riga.');
  expect(edited).not.toBe(text);
  writeFileSync(path, edited);
  await library.read({ precompute: false });

  const answer = await ask(QUESTION);
  expect(answer.stats?.chunkHits).toMatchObject({ partial: 1, computed: 0 });
  expect(answer.citations.filter(({ tier }) => tier === 'partial').map((found) => found.path)).toEqual([
    DOCUMENT,
  ]);
  const report = FusionReportSchema.parse(app.chat.report(answer.id));
  const [part, ...others] = report.parts.filter(({ chunk }) => chunk?.match === 'partial');
  expect(others).toEqual([]);
  expect(part?.chunk).toMatchObject({ document: DOCUMENT });
  const reused = part?.chunk?.reusedTokens ?? 0;
  expect(reused).toBeGreaterThan(0.8 * (part?.tokens ?? Infinity));
  expect(part?.chunk?.runs?.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(reused);
  expect(report.reusedTokens).toBe(answer.stats?.reusedTokens);
  expect(answer.text).toContain('Riga'); // only the edit was computed
});

test("once precomputed, the new text's own KV is used, and only that was computed", async () => {
  const { precompute } = await library.read();
  expect(precompute?.computed).toBe(1);
  expect(precompute?.stored).toBeGreaterThan(50);
  const answer = await ask(QUESTION);
  expect(answer.stats?.chunkHits).toMatchObject({ partial: 0, computed: 0 });
  expect(answer.text).toContain('Riga');
});
