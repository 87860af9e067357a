/** How the model is asked for a statement: in a session of its own, held to the grammar where it runs here. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { TableInfo } from '../../../src-shared/tables.ts';
import { CostModel } from '../../fusion/planning/cost-model.ts';
import { Planner } from '../../fusion/planning/planner.ts';
import type { RemoteRequest } from '../../models/sources/servers/client.ts';
import { systemClock } from '../../platform/clock.ts';
import { SettingsService } from '../../platform/settings-service.ts';
import { CHAT_TEMPLATES } from '../../testing/chat-templates.ts';
import { FakeModel, FakeStore } from '../../testing/fusion.ts';
import { listedLibrary } from '../../testing/passages.ts';
import { serverModel } from '../../testing/server-model.ts';
import { AnswerMaker } from '../answer.ts';
import { choicesOf } from '../choices.ts';
import type { NamedModel } from '../named-model.ts';
import { findPassages } from '../passages.ts';
import { Stopwatch } from '../stopwatch.ts';

const SQL = 'SELECT COUNT(*) FROM "Towns"';
const TOWNS: TableInfo = {
  name: 'Towns',
  sheet: '',
  rows: 12,
  totalsLeftOut: 0,
  columns: [{ name: 'Town', type: 'text', unit: null, unread: 0, examples: ['Orm'], isComplete: false }],
};

async function compute(model: NamedModel['model']) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-tables-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const store = new FakeStore();
  const costs = new CostModel(join(dir, 'costs.json'));
  const planner = new Planner({ costs, store, calibration: () => undefined });
  const { all, passages, retrieval } = listedLibrary(new FakeModel(), { 'towns.csv': '- Town: Orm' });
  const maker = new AnswerMaker({
    ...{ store, planner, passages, retrieval },
    openSession: (from, capacity) => from.createSession(capacity),
    tables: {
      list: () => Promise.resolve({ tables: [TOWNS], changed: false }),
      query: (_, sql) => Promise.resolve({ columns: [sql], rows: [[12]], truncated: false }),
    },
  });
  const { current } = new SettingsService(join(dir, 'settings.json'));
  const found = findPassages(
    all.map(({ id }) => ({ chunkId: id, score: 1, reason: 'match', highlights: [] })),
    passages,
  );
  return maker.compute(found, {
    name: 'Fake',
    model,
    question: 'How many towns are there?',
    choices: choicesOf({}, current, model, planner),
    stopwatch: new Stopwatch(systemClock),
    signal: new AbortController().signal,
  });
}

test('a model that runs here is held to the grammar, and its session is given back', async () => {
  const model = new FakeModel({ chatTemplate: CHAT_TEMPLATES.qwen2, says: SQL, parameterCount: 3e9 });
  const [first, second] = await compute(model);
  expect(first?.text).toContain(`${SQL}\nResult:\n`);
  expect(second?.text).toBe('- Town: Orm');
  expect(model.sampled).toEqual([
    expect.objectContaining({ temperature: 0, grammar: expect.stringContaining('"Towns') as string }),
  ]);
  expect(model.sessions.map(({ disposed }) => disposed)).toEqual([true]);
});

test('a model on a server is asked the same, without a grammar', async () => {
  const requests: RemoteRequest[] = [];
  const says = [{ kind: 'text' as const, text: `\`\`\`sql\n${SQL};\n\`\`\`` }];
  const [first] = await compute(serverModel({ says, onRequest: (request) => requests.push(request) }));
  expect(first?.text).toContain(`${SQL}\nResult:\n`);
  expect(JSON.stringify(requests)).toContain('How many towns are there?');
});
