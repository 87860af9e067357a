import { expect, test } from 'vitest';
import { randomFrom } from '../../src-main/testing/random.ts';
import { fromSchema, mutateJson, written } from './json.ts';
import { outcome, search, type Target } from './search.ts';

const target = (run: Target['run']): Target => ({
  make: (random) => String(random()),
  run,
  inputs: 5,
  mostMs: 10,
  reaches: [],
});

test.each<[string, Target['run'], string]>([
  ['a broken rule', () => Promise.reject(new Error('500')), '500'],
  [
    'a rejection that nobody handles',
    () => {
      void Promise.reject(new Error('lost'));
      return Promise.resolve('200');
    },
    'unhandled: lost',
  ],
  [
    'too long a computation',
    () => {
      for (const begin = process.cpuUsage().user; process.cpuUsage().user - begin < 30_000;);
      return Promise.resolve('200');
    },
    'ms of CPU time',
  ],
])('%s is a finding, and the same seed finds it again', async (_, run, why) => {
  const first = await search(target(run), { seconds: 0, seed: 7 });
  expect(first.findings).toHaveLength(5);
  for (const finding of first.findings) expect(finding.why).toContain(why);
  const again = await search(target(run), { seconds: 0, seed: 7 });
  expect(again.findings.map(({ input }) => input)).toEqual(first.findings.map(({ input }) => input));
});

test('what ends well is counted by its end', async () => {
  const { findings, ends } = await search(
    target(async (input) => (Number(input) < 2 ? 'low' : 'high')),
    {
      seconds: 0,
      seed: 1,
    },
  );
  expect([findings, ends]).toEqual([[], { low: 5 }]);
  expect(
    await outcome(
      target(() => Promise.resolve('x')),
      '',
    ),
  ).toEqual({ end: 'x' });
});

test('values have the form of their schema, and mutations differ from them', () => {
  const schema = {
    type: 'object',
    properties: {
      kind: { enum: ['a', 'b'] },
      list: { type: 'array', items: { $ref: '#/$defs/n' }, minItems: 2 },
    },
    required: ['kind', 'list'],
    $defs: { n: { type: 'integer', minimum: 5 } },
  };
  let mutated = 0;
  for (let seed = 0; seed < 50; seed++) {
    const random = randomFrom(seed);
    const value = fromSchema(schema, { random, root: schema, words: {} }) as { kind: string; list: number[] };
    expect(['a', 'b']).toContain(value.kind);
    expect(value.list.length).toBeGreaterThanOrEqual(2);
    for (const number of value.list) expect(number).toBeGreaterThanOrEqual(5);
    if (written(mutateJson(value, random)) !== written(value)) mutated++;
  }
  expect(mutated).toBeGreaterThan(40);
});
