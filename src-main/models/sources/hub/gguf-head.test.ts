import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../engine/engine.ts';
import { resolvePaths } from '../../../platform/paths.ts';
import { ggufBytes } from '../../../testing/gguf.ts';
import { headBytes } from './gguf-head.ts';

test('a header ends before the data, wherever the bytes that are there end', () => {
  const bytes = ggufBytes('tiny', 100);
  const end = bytes.length - 100;
  expect(headBytes(bytes)).toBe(end);
  for (let n = 4; n < end; n++) expect(headBytes(bytes.subarray(0, n)), String(n)).toBeUndefined();
  expect(headBytes(bytes.subarray(0, end))).toBe(end);
});

test.each<[string, (bytes: Buffer) => void]>([
  ['another file', (bytes) => bytes.write('ZIP!')],
  ['an old version', (bytes) => bytes.writeUInt32LE(1, 4)],
  ['a name that has no end', (bytes) => bytes.writeBigUInt64LE(2n ** 63n, 24)],
  ['a value of no type', (bytes) => bytes.writeUInt32LE(99, 24 + 8 + 'general.name'.length)],
])('%s is no header', (_, damage) => {
  const bytes = ggufBytes('tiny');
  damage(bytes);
  expect(() => headBytes(bytes)).toThrow(expect.objectContaining({ code: 'MODEL_INVALID' }));
});

test('the engine says the same of a header in an empty file of the full size as of the model itself', () => {
  const { demoModel } = resolvePaths();
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-head-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [whole, sparse] = [join(dir, 'whole.gguf'), join(dir, 'sparse.gguf')];
  copyFileSync(demoModel, whole);
  const bytes = readFileSync(whole);
  writeFileSync(sparse, bytes.subarray(0, headBytes(bytes)));
  truncateSync(sparse, bytes.length);
  const engine = Engine.open();
  expect(engine.inspect(sparse)).toEqual(engine.inspect(whole));
  expect(statSync(sparse).size).toBe(bytes.length);
});
