/** Conversations with the real engine and the demo model: the KV kept between turns equals that of one prompt. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FusionReportSchema, type FusionReport } from '../src-shared/fusion-report.ts';
import { STRATEGY_NAMES } from '../src-shared/strategy.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { App } from '../src-main/app.ts';
import { readSuggestions } from '../src-main/chat/suggestions.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

const MiB = 1024 * 1024;
const EVERYTHING = { scope: { libraryIds: [], documentIds: [] } };
/** Few enough passages that three questions fit the model's context. */
const FULL = { ...EVERYTHING, topK: 6, strategy: { name: 'full' as const, ratio: 0.15 } };
/** Fixed, because the controller's own choice depends on this machine's speed. */
const BLENDED = { ...EVERYTHING, topK: 6, strategy: { name: 'query' as const, ratio: 0.15 } };
const BY_DEVIATION = { ...EVERYTHING, strategy: { name: 'deviation' as const, ratio: 0.15 } };
const QUESTIONS = [
  'Where does Project Polaris run?',
  'What does the canteen of the Oakfield House serve?',
  'What colour are the shirts of Team Ocelot?',
];

function textTokens({ parts }: FusionReport): number {
  return parts.reduce((sum, { kind, tokens }) => sum + (kind === 'text' ? tokens : 0), 0);
}

let dir: string;
let app: App;

async function openApp(): Promise<App> {
  const opened = await App.open({ dataDir: dir });
  await readLibrary(opened);
  return opened;
}

beforeAll(async () => {
  dir = await readyData(mkdtempSync(join(tmpdir(), 'kvasir-chat-')));
  app = await openApp();
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
});

async function ask(id: string, text: string): Promise<Message> {
  const { answerId } = app.chat.send(id, text);
  return answered(id, answerId);
}

async function answered(id: string, answerId: string): Promise<Message> {
  await app.chat.idle();
  const message = app.chat.get(id).messages.find((candidate) => candidate.id === answerId);
  if (!message) throw new Error(`no answer ${answerId}`);
  expect(message.failure).toBeNull();
  return message;
}

test('appending turn by turn gives the same KV as one prompt', async () => {
  const { model } = await app.localModels.current();
  const parts = ['Mara Lind works in Riga. ', 'Where? In Riga. ', 'She likes tea and lives in'].map((text) =>
    model.tokenize(text),
  );
  const turns = model.createSession(256);
  const once = model.createSession(256);
  for (const tokens of parts) await turns.append([{ kind: 'compute', tokens }], { kind: 'full' });
  const tokens = Int32Array.from(parts.flatMap((part) => [...part]));
  await once.append([{ kind: 'compute', tokens }], { kind: 'full' });
  const [a, b] = [turns.logits(), once.logits()];
  const largest = a.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const apart = a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b[i] ?? Infinity))), 0);
  expect(apart).toBeLessThan(largest * 0.01); // KV is stored in f16
  turns.dispose();
  once.dispose();
});

test('a conversation answers the same with and without its KV in memory', async () => {
  const resident = app.chat.create(FULL).id;
  const kept: Message[] = [];
  for (const question of QUESTIONS) kept.push(await ask(resident, question));
  for (const [i, { stats }] of kept.entries()) {
    const before = kept[i - 1]?.stats;
    expect(stats?.residentTokens).toBe(before ? before.promptTokens + before.answerTokens : 0);
  }

  app.settings.update({ conversationBudgetBytes: 0 });
  const rebuilt = app.chat.create(FULL).id;
  for (const [i, question] of QUESTIONS.entries()) {
    const answer = await ask(rebuilt, question);
    expect(answer.text).toBe(kept[i]?.text);
    expect(answer.stats).toMatchObject({ residentTokens: 0, promptTokens: kept[i]?.stats?.promptTokens });
  }
  app.settings.update({ conversationBudgetBytes: 256 * MiB });
});

test('the suggested questions are answered correctly by blending, with the source sentence marked', async () => {
  const suggestions = readSuggestions(app.paths.sampleSuggestions);
  const expected = ['Riga', 'sushi', 'black'];
  expect(suggestions).toHaveLength(expected.length);
  for (const [i, question] of suggestions.entries()) {
    const answer = await ask(
      app.chat.create({ ...EVERYTHING, strategy: { name: 'deviation', ratio: 0.2 } }).id,
      question,
    );
    expect(answer).toMatchObject({ state: 'done', notices: [] });
    expect(answer.text).toContain(expected[i]);
    expect(answer.stats?.reusedTokens).toBeGreaterThan(answer.stats!.promptTokens / 2);
    expect(answer.stats?.recomputedTokens).toBeLessThan(answer.stats!.reusedTokens / 4);
    expect(answer.stats?.fullPrefillMs).toBeGreaterThan(0);
    const marked = answer.citations.flatMap(({ text, highlights }) =>
      highlights.map(({ start, end }) => text.slice(start, end)),
    );
    expect(marked.some((sentence) => sentence.includes(expected[i] ?? '?'))).toBe(true);
  }
});

test('stopping before the first token ends the answer and leaves the conversation usable', async () => {
  const { id } = app.chat.create(FULL);
  const { answerId } = app.chat.send(id, QUESTIONS[0]!);
  app.chat.stop(id);
  expect(await answered(id, answerId)).toMatchObject({ state: 'stopped', text: '' });
  const next = app.chat.send(id, QUESTIONS[1]!);
  await new Promise((resolve) => setImmediate(resolve));
  app.chat.stop(id);
  expect((await answered(id, next.answerId)).state).toBe('stopped');
  expect(await ask(id, QUESTIONS[2]!)).toMatchObject({
    state: 'done',
    text: 'Team Ocelot wears black shirts.',
  });
});

test('every strategy answers, and its report lists the recomputed tokens', async () => {
  for (const name of STRATEGY_NAMES) {
    const { id } = app.chat.create({ ...EVERYTHING, strategy: { name, ratio: 0.15 } });
    const answer = await ask(id, QUESTIONS[0]!);
    const report = app.chat.report(answer.id)!;
    expect([name, answer.state, answer.stats?.strategy.name]).toEqual([name, 'done', name]);
    expect(report.selected).toHaveLength(report.recomputedTokens);
    const recomputed = report.parts.reduce((sum, { chunk }) => sum + (chunk?.recomputed ?? 0), 0);
    expect(recomputed).toBe(
      name === 'full' ? report.promptTokens - textTokens(report) : report.recomputedTokens,
    );
  }
});

test('branches share their common turns, and a restart restores the conversation from cached passages', async () => {
  const { id } = app.chat.create(BLENDED);
  const first = await ask(id, QUESTIONS[0]!);
  const second = await ask(id, QUESTIONS[1]!);
  const again = await answered(id, app.chat.regenerate(id, second.id).answerId);
  expect(again.text).toBe(second.text);
  expect(again.stats?.residentTokens).toBe(second.stats!.promptTokens - 2);
  const edited = await answered(id, app.chat.edit(id, second.parentId!, QUESTIONS[2]!).answerId);
  expect(edited.stats?.residentTokens).toBeGreaterThanOrEqual(first.stats!.promptTokens);
  const before = app.chat.get(id);

  await app.close();
  app = await openApp();
  expect(app.chat.get(id)).toEqual({ ...before, residentTokens: 0 });
  const third = await ask(id, QUESTIONS[1]!);
  expect(third.stats).toMatchObject({ residentTokens: 0 });
  expect(third.stats!.reusedTokens).toBeGreaterThan(third.stats!.promptTokens * 0.8);
  expect(third.stats!.computedTokens).toBeLessThan(third.stats!.promptTokens * 0.2);
});

test('the report covers every token and layer; a measured full prefill replaces the estimate', async () => {
  const { id } = app.chat.create(BY_DEVIATION);
  await ask(id, QUESTIONS[0]!);
  const answer = await ask(id, QUESTIONS[1]!);
  const report = app.chat.report(answer.id)!;
  expect(FusionReportSchema.parse(report)).toEqual(report);
  expect(report.parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(report.promptTokens);
  expect(report.tokens).toHaveLength(report.promptTokens - report.residentTokens);
  expect(report.tokens.join('')).toContain('Question: What does the canteen of the Oakfield House serve?');
  expect(report.layers).toHaveLength(report.layerCount);
  const [check] = report.checks;
  expect(check?.positions).toHaveLength(report.reusedTokens);
  expect(check?.selected).toHaveLength(report.recomputedTokens);
  expect(check?.massCovered).toBeGreaterThan(0.15);
  expect(check?.positions[0]).toBeGreaterThanOrEqual(report.tokensStart);
  const recomputed = report.parts.reduce((sum, { chunk }) => sum + (chunk?.recomputed ?? 0), 0);
  expect(recomputed).toBe(report.recomputedTokens);

  const stats = await app.chat.measureFullPrefill(answer.id);
  expect(stats).toMatchObject({ fullPrefillMeasured: true, promptTokens: answer.stats?.promptTokens });
  expect(app.chat.report(answer.id)?.fullPrefillMs).toBe(stats.fullPrefillMs);
});
