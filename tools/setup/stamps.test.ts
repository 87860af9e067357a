import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ROOT, STATE } from './platform.mjs';
import { clearStamp, hash, isStampFresh, stampedOutputs, writeStamp } from './stamps.mjs';

const step = `test-${process.pid}`;
const output = `.setup/${step}.out`;

beforeEach(() => {
  mkdirSync(STATE, { recursive: true });
  writeFileSync(join(ROOT, output), 'built');
});
afterEach(() => {
  clearStamp(step);
  rmSync(join(ROOT, output), { force: true });
});

it('is fresh for the same inputs while the outputs exist', () => {
  expect(isStampFresh(step, 'key')).toBe(false);
  writeStamp(step, 'key', [output]);
  expect(isStampFresh(step, 'key')).toBe(true);
  expect(isStampFresh(step, 'other key')).toBe(false);
  expect(stampedOutputs(step)).toEqual([output]);
});

it('is stale if an output was deleted, truncated or never written', () => {
  writeStamp(step, 'key', [output]);
  writeFileSync(join(ROOT, output), 'bui');
  expect(isStampFresh(step, 'key')).toBe(false);
  rmSync(join(ROOT, output));
  expect(isStampFresh(step, 'key')).toBe(false);
  expect(() => writeStamp(step, 'key', [output])).toThrow('ENOENT');
});

it('is stale if it is damaged', () => {
  writeFileSync(join(STATE, `${step}.json`), '{"key": "key"');
  expect(isStampFresh(step, 'key')).toBe(false);
});

it('hashes a list of inputs, not their concatenation', () => {
  expect(hash('ab', 'c')).not.toBe(hash('a', 'bc'));
});
