import { expect, test } from 'vitest';
import { NewStrategyRequestSchema, StrategyChoiceSchema, StrategyRequestSchema } from './strategy.ts';

test.each(['union', 'chunk-head'])('what an earlier version stored as %s is still read', (name) => {
  expect(StrategyChoiceSchema.parse({ name, ratio: 0.3, checkLayers: [1] })).toMatchObject({
    name: 'query',
    ratio: 0.3,
  });
  expect(StrategyRequestSchema.parse({ name })).toMatchObject({ name: 'query' });
});

test('a name that never was one is refused', () => {
  expect(StrategyChoiceSchema.safeParse({ name: 'guess' }).success).toBe(false);
  expect(StrategyRequestSchema.safeParse({ name: undefined }).success).toBe(false);
});

test('a new request is refused by the name of its strategy, if that is text', () => {
  const message = (name: unknown): string | undefined =>
    NewStrategyRequestSchema.safeParse({ name }).error?.issues[0]?.message;
  expect(message('union')).toBe('There is no strategy "union"');
  for (const name of [{}, [['x']], 1, null])
    expect(message(name)).toMatch(/^Invalid option: expected one of "auto"/);
});
