/** libllama reads an embedding model's header and crashes on impossible values, so Kvasir refuses such files first. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Engine } from '../src-main/engine/engine.ts';
import { randomModel } from '../tools/random-model/random-model.ts';
import { removeDir, tempDir } from './cli-support.ts';
import { BERT } from './support/small-bert.ts';

/** GGUF stores the value's type between key and value. */
const TYPE_BYTES = 4;

let dir: string;
let sound: Buffer;
beforeAll(() => {
  dir = tempDir();
  sound = readFileSync(randomModel({ ...BERT, context: 64, pooling: 1 }, dir));
});
afterAll(() => removeDir(dir));

/** Loads the model with another number at a key of its header. */
function load(key: string, write: (bytes: Buffer, at: number) => void): Promise<string> {
  const bytes = Buffer.from(sound);
  const start = bytes.indexOf(key);
  if (start < 0) throw new Error(`${key} not found`);
  write(bytes, start + key.length + TYPE_BYTES);
  const path = join(dir, 'edited.gguf');
  writeFileSync(path, bytes);
  return Engine.open()
    .loadEmbedder(path, { threads: 1, device: 'cpu' })
    .then(
      (embedder) => (embedder.dispose(), 'loaded'),
      (error: unknown) => (error as { code: string }).code,
    );
}

test('the unchanged file loads', async () => {
  expect(await load('bert.embedding_length', () => undefined)).toBe('loaded');
});

test.each([
  ['bert.embedding_length', 0],
  ['bert.embedding_length', 0x7fffffff],
  ['bert.embedding_length', 66],
  ['bert.attention.head_count', 0],
  ['bert.attention.head_count', 3],
  ['bert.attention.head_count', 0xffffffff],
  ['bert.attention.head_count', 68],
  ['bert.attention.key_length', 18],
  ['bert.attention.value_length', 18],
  ['bert.block_count', 0],
  ['bert.block_count', 100_000],
  ['bert.context_length', 0],
  ['bert.feed_forward_length', 0xffffffff],
  ['bert.pooling_type', 77],
])('%s = %i is refused', async (key, value) => {
  expect(await load(key, (bytes, at) => bytes.writeUInt32LE(value, at))).toMatch(
    /^MODEL_(INVALID|UNSUPPORTED)$/,
  );
});

test.each([-1, NaN, Infinity, 1e30])('an epsilon of %d is refused', async (value) => {
  expect(await load('bert.attention.layer_norm_epsilon', (bytes, at) => bytes.writeFloatLE(value, at))).toBe(
    'MODEL_INVALID',
  );
});
