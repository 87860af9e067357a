import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Gate } from '../../platform/gate.ts';
import { silentLogger } from '../../platform/logger.ts';
import { ModelRegistry } from '../registry/model-registry.ts';
import { WeightsCheck } from './weights-check.ts';
import { WeightsTable } from './weights-table.ts';

/** Larger than one read. */
const GOOD = Buffer.alloc(3 << 20, 'weights');
const DAMAGED = Buffer.from(GOOD).fill(0, 1 << 20, (1 << 20) + 4096);

function fixture({ inUse = false } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-weights-'));
  const registry = new ModelRegistry(join(dir, 'models.sqlite'));
  const gate = new Gate();
  const table = new WeightsTable(registry.database);
  const path = join(dir, 'model.gguf');
  const state = { inUse, forgotten: 0 };
  const forgetKv = (): Promise<boolean> => {
    state.forgotten++;
    return Promise.resolve(!state.inUse);
  };
  const weights = new WeightsCheck({ table, gate, log: silentLogger, forgetKv });
  onTestFinished(async () => {
    await weights.close();
    registry.close();
    rmSync(dir, { recursive: true });
  });
  // The fake fingerprint of both files, which differ between the ends of a tensor.
  const active = { path, model: { info: { fingerprint: 'f' } } };
  return { dir, path, gate, table, weights, state, load: () => weights.check(active) };
}

test('KV of a file that was damaged in the middle goes when a sound one takes its place', async () => {
  const { path, load, state, dir } = fixture();
  writeFileSync(path, DAMAGED);
  await load();
  expect(state.forgotten).toBe(0);
  writeFileSync(join(dir, 'new'), GOOD);
  renameSync(join(dir, 'new'), path);
  await load();
  expect(state.forgotten).toBe(1);
  await load();
  expect(state.forgotten).toBe(1);
});

test('a file that is only moved or touched keeps its KV', async () => {
  const { path, load, state } = fixture();
  writeFileSync(path, GOOD);
  await load();
  utimesSync(path, 1, 1);
  await load();
  expect(state.forgotten).toBe(0);
});

test('all files of a model count', async () => {
  const { dir, state, weights } = fixture();
  const path = join(dir, 'model-00001-of-00002.gguf');
  writeFileSync(path, 'header');
  const load = (bytes: Buffer): Promise<void> => {
    writeFileSync(join(dir, 'model-00002-of-00002.gguf'), bytes);
    return weights.check({ path, model: { info: { fingerprint: 'f' } } });
  };
  await load(GOOD);
  await load(GOOD);
  expect(state.forgotten).toBe(0);
  await load(DAMAGED);
  expect(state.forgotten).toBe(1);
});

test('a known file is not read again', async () => {
  const { path, load, table } = fixture();
  writeFileSync(path, GOOD);
  await load();
  const known = table.sha256('f');
  table.put('f', 'other'); // as if another file had been in use since
  await load();
  expect(table.sha256('f')).toBe(known);
});

test('KV in use is deleted the next time', async () => {
  const { path, load, state } = fixture({ inUse: true });
  writeFileSync(path, DAMAGED);
  await load();
  writeFileSync(path, GOOD);
  await load();
  await load();
  expect(state.forgotten).toBe(2);
  state.inUse = false;
  await load();
  await load();
  expect(state.forgotten).toBe(3);
});

test('questions interrupt it, and it goes on where it was', async () => {
  const { path, load, gate, table } = fixture();
  writeFileSync(path, GOOD);
  const done = load();
  for (let i = 0; i < 3; i++) await gate.foreground(() => new Promise((resolve) => setImmediate(resolve)));
  await done;
  const first = table.sha256('f');
  utimesSync(path, 1, 1); // hashed again
  await load();
  expect(table.sha256('f')).toBe(first);
});

test('KV of a file that gave way to another before it could be hashed goes when that one is loaded', async () => {
  const { path, load, gate, state, dir } = fixture();
  writeFileSync(path, DAMAGED);
  const busy = Promise.withResolvers<undefined>();
  const question = gate.foreground(() => busy.promise);
  const earlier = load();
  const damaged = load(); // waits for the earlier check
  await new Promise((resolve) => setTimeout(resolve, 50)); // until the earlier one waits for the question
  writeFileSync(join(dir, 'new'), GOOD);
  renameSync(join(dir, 'new'), path);
  busy.resolve(undefined);
  await Promise.all([question, earlier, damaged]);
  const before = state.forgotten;
  await load();
  expect(state.forgotten).toBe(before + 1);
  await load();
  expect(state.forgotten).toBe(before + 1);
});
