import { describe, expect, test } from 'vitest';
import type { QueryResult, TableInfo } from '../../../src-shared/tables.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { FakeModel } from '../../testing/fusion.ts';
import { listedLibrary } from '../../testing/passages.ts';
import { findPassages, type FoundPassage } from '../passages.ts';
import { computedPassage } from './computed-passage.ts';
import { asksToCompute } from './question-kind.ts';
import { statementIn } from './statement.ts';

const SALES: TableInfo = {
  name: 'Sales',
  sheet: 'Sales',
  rows: 1204,
  totalsLeftOut: 1,
  columns: [
    {
      name: 'Region',
      type: 'text',
      unit: null,
      unread: 0,
      examples: ['North', "Côte d'Or"],
      isComplete: true,
    },
    { name: 'Revenue', type: 'number', unit: '€', unread: 2, examples: ['1200.5'], isComplete: false },
  ],
};
const SQL = `SELECT SUM("Revenue") FROM "Sales" WHERE "Region" = 'North'`;

interface Case {
  question?: string;
  path?: string;
  parameters?: number;
  changed?: boolean;
  says?: string;
  result?: Partial<QueryResult>;
  fails?: Error;
}

async function compute({
  question = 'What is the total revenue in the north?',
  path = 'sales.xlsx',
  parameters = 3e9,
  changed = false,
  says = SQL,
  result = {},
  fails,
}: Case = {}) {
  const model = new FakeModel();
  model.info.parameterCount = parameters;
  const { all, passages } = listedLibrary(model, { [path]: '- Region: North; Revenue: 5', 'a.md': 'Other.' });
  const scores = [2, 1];
  const found: FoundPassage[] = findPassages(
    all.map(({ id }, i) => ({ chunkId: id, score: scores[i] ?? 0, reason: 'match', highlights: [] })),
    passages,
  );
  const asked: string[] = [];
  const failures: unknown[] = [];
  const passage = await computedPassage(
    { question, found, model },
    {
      tables: {
        list: () => Promise.resolve({ tables: [SALES], changed }),
        query: (_, sql) => {
          asked.push(sql);
          if (fails) return Promise.reject(fails);
          return Promise.resolve({
            columns: ['SUM("Revenue")'],
            rows: [[1300]],
            truncated: false,
            ...result,
          });
        },
      },
      write: (prompt, grammar) => {
        asked.push(prompt, grammar);
        return Promise.resolve(says);
      },
      onFailed: (error) => failures.push(error),
    },
  );
  return { passage, asked, failures, found };
}

test('the passage has the statement, its result and where it comes from, and leads to the sheet', async () => {
  const { passage, asked, found } = await compute();
  expect(passage?.text).toBe(
    `Computed from 1,204 rows of sales.xlsx, sheet “Sales”:\n${SQL}\nResult:\n- SUM(Revenue): 1300\nRevenue is in €.\n2 cells of Revenue without a number were left out.\nRows of totals were left out: 1.`,
  );
  expect(passage).toMatchObject({ reason: 'computed 1204', score: 3 });
  expect(passage?.passage).toMatchObject({
    documentId: found[0]?.passage.documentId,
    start: found[0]?.passage.start,
    standsIn: true,
  });
  expect(asked[0]).toContain(
    `- "Region" (text): 'North', 'Côte d''Or'\n- "Revenue" (number in €): such as 1200.5`,
  );
  expect(asked[0]).toContain('What is the total revenue in the north?');
  expect(asked.at(-1)).toBe(SQL);
});

describe('nothing is computed', () => {
  test.each<[string, Case]>([
    ['for another kind of question', { question: 'Who leads the northern office?' }],
    ['when the best passage is of another document', { path: 'sales.md' }],
    ['by a small model', { parameters: 3e8 }],
    ['when the file has changed', { changed: true }],
  ])('%s', async (_, given) => {
    const { passage, asked } = await compute(given);
    expect([passage, asked]).toEqual([undefined, []]);
  });

  test.each<[string, Case]>([
    ['without a statement', { says: 'I do not know.' }],
    ['by a statement over no table of the document', { says: 'SELECT 1' }],
    ['without rows', { result: { rows: [] } }],
    ['when a sum is of nothing', { result: { rows: [[null]] } }],
    ['when a count is of nothing', { result: { rows: [[0]] } }],
  ])('%s', async (_, given) => {
    expect((await compute(given)).passage).toBeUndefined();
  });

  test('when the statement fails, which is told; stopping stops', async () => {
    const error = new KvasirError('TABLE_QUERY', 'No such column.');
    const { passage, failures } = await compute({ fails: error });
    expect([passage, failures]).toEqual([undefined, [error]]);
    await expect(compute({ fails: new KvasirError('ABORTED', 'Stopped.') })).rejects.toMatchObject({ code: 'ABORTED' }); // prettier-ignore
  });
});

test('at most 20 rows are told', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => [i]);
  const text = (await compute({ result: { rows } })).passage?.text ?? '';
  expect(text.match(/^- /gm)).toHaveLength(20);
  expect(text).toContain('There are more rows.');
});

test.each([
  'How many towns have a bridge?',
  'What is the average price per region?',
  'Which town has the most bridges?',
  'Which orders are above 500?',
  'Who is the oldest member?',
  'Wie viele Städte gibt es?',
  'Was ist die Summe der Umsätze?',
  'Welche Stadt hat die meisten Brücken?',
  '一共有多少个城市？',
  '哪个城市的桥最多？',
])('asks to compute: %s', (question) => {
  expect(asksToCompute(question)).toBe(true);
});

test.each(['Who built the bridge?', 'Where is Orm?', 'Was steht in dem Vertrag?', '谁是市长？'])(
  'does not ask to compute: %s',
  (question) => {
    expect(asksToCompute(question)).toBe(false);
  },
);

test.each([
  [SQL, SQL],
  ['```sql\nSELECT 1\n```', 'SELECT 1'],
  ['Here it is: SELECT COUNT(*)\nFROM "T"; It counts.', 'SELECT COUNT(*)\nFROM "T"'],
  ['None.', ''],
])('the statement in %j', (answer, statement) => {
  expect(statementIn(answer)).toBe(statement);
});
