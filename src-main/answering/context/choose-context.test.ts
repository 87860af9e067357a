import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CostModel } from '../../fusion/planning/cost-model.ts';
import { Planner } from '../../fusion/planning/planner.ts';
import { SettingsService } from '../../platform/settings-service.ts';
import { FakeModel, FakeStore } from '../../testing/fusion.ts';
import { listedLibrary } from '../../testing/passages.ts';
import { conversation } from '../ask.ts';
import { backendOf } from '../backends/backend-of.ts';
import { choicesOf } from '../choices.ts';
import { documentShares } from '../document-shares.ts';
import { chooseContext, type ContextRequest } from './choose-context.ts';
import { refersBack, searchText, type PastQuestion } from './follow-up.ts';

/** Three parts of four passages, about different ships. */
const LONG = Array.from({ length: 12 }, (_, i) => `Part ${i} tells of ship ${'abcdefghijkl'.charAt(i)}1.`);
const TEXTS = { 'log.md': LONG, 'mara.md': 'Mara Lind lives in Oslo.', 'tea.md': 'Tea is free.' };

interface Situation {
  earlier?: PastQuestion[];
  documentIds?: string[];
  contextTokens?: number;
  parameterCount?: number;
  /** What the model writes; absent: it is not asked. */
  writes?: string | Error;
  /** Predicted time of a prompt to its first token; absent: unknown. */
  predictedMs?: number;
  newest?: number | null;
}

async function choose(
  question: string,
  {
    earlier = [],
    documentIds = [],
    contextTokens = 4096,
    parameterCount,
    writes,
    predictedMs,
    newest = null,
  }: Situation = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-context-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const model = new FakeModel(parameterCount === undefined ? {} : { parameterCount });
  const { retrieval, passages } = listedLibrary(model, TEXTS);
  const costs = new CostModel(join(dir, 'costs.json'));
  if (predictedMs !== undefined) {
    const total = predictedMs;
    vi.spyOn(costs, 'predict').mockReturnValue({
      acquire: 0,
      load: 0,
      place: 0,
      check: 0,
      recompute: total,
      total,
    });
  }
  const planner = new Planner({
    costs,
    store: new FakeStore(),
    calibration: () => undefined,
  });
  const { current } = new SettingsService(join(dir, 'settings.json'), {
    contextTokens,
    maxTokens: 16,
    strict: false,
  });
  const choices = choicesOf({}, current, model, planner);
  const layOut: ContextRequest['layOut'] = (found) =>
    backendOf(model).layOut(conversation(question, found, choices));
  const written: string[] = [];
  const write = (prompt: string): Promise<string> => {
    written.push(prompt);
    return writes instanceof Error ? Promise.reject(writes) : Promise.resolve(writes ?? '');
  };
  const failed: unknown[] = [];
  const chosen = await chooseContext(
    { model, question, earlier, scope: { libraryIds: [], documentIds }, choices, layOut },
    {
      retrieval: {
        ...retrieval,
        find: async (...given) => ({ ...(await retrieval.find(...given)), newest }),
      },
      passages,
      planner,
      write: writes === undefined ? undefined : write,
      onFailed: (error) => failed.push(error),
    },
  );
  const prompt = layOut(chosen.passages);
  const read = documentShares(prompt, passages).map(({ path, readTokens, tokens }) => [
    path,
    readTokens,
    tokens,
  ]);
  const reasons = [...new Set(chosen.passages.map(({ reason }) => reason))];
  return { ...chosen, read, reasons, written, failed, prompt };
}

test.each(['Summarise?', 'What is this about?', 'Worum geht es?', '总结一下。'])(
  'nothing that answers “%s” is found: everything that fits is read, in order',
  async (question) => {
    const { kind, read, passages, notices } = await choose(question);
    expect(kind).toBe('everything');
    expect(read.map(([path]) => path)).toEqual(Object.keys(TEXTS));
    expect(read.every(([, readTokens, tokens]) => readTokens === tokens)).toBe(true);
    expect(passages.slice(0, 12).map(({ passage }) => passage.ordinal)).toEqual(LONG.map((_, i) => i));
    expect(notices).toEqual([]);
  },
);

test('a passage with most words of the question is read alone', async () => {
  const { kind, read } = await choose('Where does Mara Lind live?');
  expect([kind, read.map(([path]) => path)]).toEqual(['passages', ['mara.md']]);
});

test('an answer from the newest passages alone says so', async () => {
  const question = 'Where does Mara Lind live?';
  const { notices } = await choose(question, { newest: 20_000 });
  expect(notices).toMatchObject([{ kind: 'newest-only' }]);
  expect(notices[0]?.message).toContain('only the newest 20,000 passages');
  expect((await choose('Summarise?', { newest: 20_000 })).notices).toEqual([]); // everything is read
});

test('one that shares a minor part of them is not trusted: everything is read', async () => {
  expect((await choose('Compare free ports with paid harbours?')).kind).toBe('everything');
});

test('what does not fit is read in openings spread over each document, with the exact share and a price', async () => {
  const { kind, reasons, read, notices, prompt } = await choose('Summarise?', { contextTokens: 128 });
  expect([kind, reasons]).toEqual(['openings', ['opening']]);
  expect(prompt.leftOut).toEqual([]);
  expect(read.map(([path]) => path)).toEqual(Object.keys(TEXTS));
  const [long = [], ...short] = read;
  expect(long[1]).toBeLessThan(Number(long[2]));
  expect(short.every(([, readTokens, tokens]) => readTokens === tokens)).toBe(true);
  const sum = (at: 1 | 2): number => read.reduce((total, each) => total + Number(each[at]), 0);
  expect(notices.map(({ kind: notice }) => notice)).toEqual(['openings']);
  expect(notices[0]?.message).toContain(`3 of 3 documents, ${sum(1)} of ${sum(2)} tokens.`);
  expect(notices[0]?.message).toMatch(/An analysis reads all of it: about \d+ steps\./);
});

test('half a minute is too long for documents that nobody chose, a minute for chosen ones', async () => {
  const kinds = async (predictedMs: number) =>
    Promise.all(
      [[], ['10']].map(
        async (documentIds) => (await choose('Summarise?', { documentIds, predictedMs })).kind,
      ),
    );
  expect(await kinds(29_000)).toEqual(['everything', 'everything']);
  expect(await kinds(45_000)).toEqual(['openings', 'everything']);
  expect(await kinds(61_000)).toEqual(['openings', 'openings']);
});

test('a weak match in chosen documents that do not fit is read after their openings', async () => {
  const { kind, reasons } = await choose('c1, harbours, captains?', {
    documentIds: ['10'],
    contextTokens: 128,
  });
  expect([kind, reasons]).toEqual(['openings', ['opening', 'match']]);
});

test('follow-ups are searched with the question before them, in any language', async () => {
  const earlier = [{ question: 'Where does Mara Lind live?', text: 'In Oslo.' }];
  const english = await choose('And in German, please?', { earlier, contextTokens: 128 });
  expect([english.kind, english.read.map(([path]) => path)]).toEqual(['passages', ['mara.md']]);
  const german = await choose('Auf Deutsch?', { earlier, contextTokens: 128 });
  expect([german.kind, german.read.map(([path]) => path)]).toEqual(['passages', ['mara.md']]);
  expect(german.search).toBe('Where does Mara Lind live?\nAuf Deutsch?');
});

test('an able model rewrites a follow-up; a smaller one is not asked, and a failure changes nothing', async () => {
  const earlier = [{ question: 'Who lives in Oslo?', text: 'Mara Lind.' }];
  const writes = 'Is tea free for Mara Lind?';
  const able = await choose('And is it free for her?', { earlier, writes, parameterCount: 3e9 });
  expect(able.search).toBe(writes);
  expect(able.written[0]).toContain('Answer: Mara Lind.\nLast question: And is it free for her?');
  const small = await choose('And is it free for her?', { earlier, writes });
  expect([small.written, small.search]).toEqual([[], 'Who lives in Oslo?\nAnd is it free for her?']);
  const failing = await choose('And is it free for her?', {
    earlier,
    writes: new Error('no'),
    parameterCount: 3e9,
  });
  expect(failing.search).toBe(small.search);
  expect(failing.failed).toHaveLength(1);
});

test('a chain of follow-ups is searched back to a question that stands alone', () => {
  const earlier = ['Where does Mara Lind live?', 'And Jon?'];
  expect(searchText('the second one?', earlier)).toBe(
    'Where does Mara Lind live?\nAnd Jon?\nthe second one?',
  );
  expect(searchText('Who sells tea in Porto?', earlier)).toBe('Who sells tea in Porto?');
  expect(refersBack('Who sells tea in Porto?')).toBe(false);
});
