import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { alreadyDone, readRecord, writeRecord } from './record.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kvasir-gpu-'));
  path = join(folder, 'gpu.json');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const about = { machine: { cores: 2 }, gpu: 'One', command: 'npm run bench:gpu --' };
const run = { command: 'npm run parity', commit: 'abc', seconds: 12, date: '2026-01-01' };
const wanted = { command: run.command, commit: run.commit, gpu: about.gpu };

test('a successful run is not repeated by the same code on the same GPU', () => {
  expect(alreadyDone(readRecord(path), wanted)).toBeUndefined();
  writeRecord(path, about, run);
  const record = readRecord(path);
  expect(alreadyDone(record, wanted)).toEqual(run);
  expect(alreadyDone(record, { ...wanted, command: 'npm run bench:ttft' })).toBeUndefined();
  expect(alreadyDone(record, { ...wanted, commit: 'abd' })).toBeUndefined();
  expect(alreadyDone(record, { ...wanted, gpu: 'Two' })).toBeUndefined();
});

test('code with uncommitted changes always runs again', () => {
  writeRecord(path, about, { ...run, commit: 'abc+changes' });
  expect(alreadyDone(readRecord(path), { ...wanted, commit: 'abc+changes' })).toBeUndefined();
});

test('deleted results are measured again', () => {
  const out = join(folder, 'results.json');
  writeRecord(path, about, { ...run, out });
  expect(alreadyDone(readRecord(path), wanted)).toBeUndefined();
  writeFileSync(out, '{}');
  expect(alreadyDone(readRecord(path), wanted)).toMatchObject({ out });
});

test("runs are added; a repeated one replaces the earlier; another GPU's are removed", () => {
  writeRecord(path, about, run);
  writeRecord(path, about, { ...run, command: 'npm run bench:ttft' });
  writeRecord(path, about, { ...run, seconds: 9 });
  expect(readRecord(path)?.done.map(({ seconds }) => seconds)).toEqual([12, 9]);
  writeRecord(path, { ...about, gpu: 'Two' }, run);
  expect(readRecord(path)?.done).toEqual([run]);
});

test('an invalid file counts as missing', () => {
  writeFileSync(path, '{"gpu": 3}');
  expect(readRecord(path)).toBeUndefined();
});
