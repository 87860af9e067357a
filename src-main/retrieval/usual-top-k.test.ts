import { expect, test } from 'vitest';
import { usualTopK } from './usual-top-k.ts';

test.each([
  [16, 12],
  [96, 12],
  [128, 9],
  [256, 6],
  [512, 6],
  [8192, 6],
])('of chunks of %i tokens %i go into a prompt', (chunkTokens, topK) => {
  expect(usualTopK(chunkTokens)).toBe(topK);
});
