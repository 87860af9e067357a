import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { contract } from '../../src-shared/contract/contract.ts';
import { FailureSchema } from '../../src-shared/contract/common.ts';
import { adjustedFailure } from './settings.ts';
import { SettingsService } from './settings-service.ts';

function file(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-settings-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, 'settings.json');
}

test('a change leaves every other setting as it is, also when it came through the contract', () => {
  const path = file();
  new SettingsService(path).update({ topK: 9, chunkTokens: 128 });
  const changes = contract['settings.update'].input.parse({ theme: 'dark' });
  const settings = new SettingsService(path).update(changes);
  expect(settings).toMatchObject({ topK: 9, chunkTokens: 128, theme: 'dark' });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ topK: 9, chunkTokens: 128, theme: 'dark' });
});

test('null goes back to the default', () => {
  const path = file();
  const service = new SettingsService(path, { maxTokens: 5 });
  service.update({ topK: 9, chunkTokens: 128 });
  const settings = service.update({ topK: null, chunkTokens: null });
  expect(settings.topK).toBeUndefined();
  expect(settings.chunkTokens).toBeUndefined();
  expect(settings.maxTokens).toBe(5);
});

test('a refused change changes nothing', () => {
  const service = new SettingsService(file());
  expect(() => service.update({ topK: 0 })).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
  expect(service.current.topK).toBeUndefined();
});

test('listeners hear of a change and of what was before', () => {
  const service = new SettingsService(file());
  const heard: unknown[] = [];
  const end = service.onChange((now, before) => heard.push([now.topK, before.topK]));
  service.update({ topK: 7 });
  end();
  service.update({ topK: 8 });
  expect(heard).toEqual([[7, undefined]]);
});

test('threads beyond the cores that are free are refused, and used as those where a file names them', () => {
  const cores = availableParallelism();
  const path = file();
  const service = new SettingsService(path);
  expect(() => service.update({ threads: cores + 1 })).toThrow(
    expect.objectContaining({
      code: 'BAD_ARGUMENT',
      message: expect.stringContaining(`${cores + 1} threads`) as string,
    }),
  );
  expect(service.update({ threads: cores }).threads).toBe(cores);
  writeFileSync(path, JSON.stringify({ threads: 1024 }));
  expect(new SettingsService(path).current.threads).toBe(cores);
  expect(new SettingsService(path, { threads: 900 }).current.threads).toBe(cores);
  expect(new SettingsService(path, { threads: 0 }).current.threads).toBe(0);
});

test('numbers out of range in a file are brought within it, which is told, and other settings can be changed', () => {
  const path = file();
  const cores = availableParallelism();
  writeFileSync(path, JSON.stringify({ threads: 1e9, topK: 0, temperature: 99, theme: 'dark', more: 1 }));
  const service = new SettingsService(path);
  expect(service.current).toMatchObject({ threads: cores, topK: 1, temperature: 2, theme: 'dark' });
  expect(service.adjusted).toEqual([
    { name: 'topK', asked: 0, used: 1 },
    { name: 'threads', asked: 1e9, used: cores },
    { name: 'temperature', asked: 99, used: 2 },
  ]);
  expect(service.update({ theme: 'light' })).toMatchObject({ topK: 1, theme: 'light' });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ topK: 1, theme: 'light', more: 1 });
  expect(() => new SettingsService(path, { topK: 0 })).toThrow(
    expect.objectContaining({ code: 'BAD_ARGUMENT' }),
  );
});

test('threads beyond the cores are told, whoever asked for them; what is within is not', () => {
  const path = file();
  const cores = availableParallelism();
  expect(new SettingsService(path, { threads: cores + 1 }).adjusted).toEqual([
    { name: 'threads', asked: cores + 1, used: cores },
  ]);
  expect(new SettingsService(path, { threads: cores }).adjusted).toEqual([]);
});

test('a number that was brought within its range is told by its name, with both values', () => {
  const told = FailureSchema.parse(adjustedFailure({ name: 'topK', asked: 0, used: 1 }));
  expect(told).toMatchObject({
    code: 'SETTING_ADJUSTED',
    values: { setting: 'topK', asked: '0', used: '1' },
  });
  for (const part of ['topK', '0', '1']) expect(told.message).toContain(part);
});

const utf16 = Buffer.from('\ufeff{"topK": 3}', 'utf16le');

test.each([
  ['empty', Buffer.alloc(0), {}],
  ['no JSON', Buffer.from('no JSON'), {}],
  ['a list', Buffer.from('[]'), {}],
  ['zeros, as after a crash', Buffer.alloc(64), {}],
  ['a comma too many', Buffer.from('{"topK": 3,, "theme": "dark"}'), { topK: 3, theme: 'dark' }],
  ['cut', Buffer.from('{"topK": 3, "theme": "da'), { topK: 3 }],
  ['a value that is not valid', Buffer.from('{"topK": 3, "dtype": "f32", "more": 1}'), { topK: 3, more: 1 }],
  ['null', Buffer.from('{"topK": 3, "chunkTokens": null}'), { topK: 3 }],
])('a file that is %s is repaired and told once, and the old one is kept', (_, bytes, kept) => {
  const path = file();
  writeFileSync(path, bytes);
  const service = new SettingsService(path);
  expect(service.found.map(({ code }) => code)).toContain('SETTINGS_DAMAGED');
  expect(service.found.map((each) => FailureSchema.parse(each))).toEqual(service.found);
  expect(service.current).toMatchObject({ dtype: 'f16', ...('topK' in kept ? { topK: 3 } : {}) });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(kept);
  const old = readdirSync(dirname(path)).filter((name) => name.includes('.damaged-'));
  expect(old.map((name) => readFileSync(join(dirname(path), name)))).toEqual([bytes]);
  expect(new SettingsService(path).found).toEqual([]);
});

test.each([
  ['UTF-16', utf16],
  ['UTF-8 with its mark', Buffer.from('\ufeff{"topK": 3}')],
  ['a comma behind the last value', Buffer.from('{"topK": 3,}')],
])('a file in %s is read as it is', (_, bytes) => {
  const path = file();
  writeFileSync(path, bytes);
  const { current, found } = new SettingsService(path);
  expect([current.topK, found]).toEqual([3, []]);
});

test('a number written as text is that number', () => {
  const path = file();
  writeFileSync(path, '{"topK": "5", "maxTokens": "0"}');
  const { current, adjusted } = new SettingsService(path);
  expect(current).toMatchObject({ topK: 5, maxTokens: 1 });
  expect(adjusted.map(({ used }) => used)).toEqual([5, 1]);
});

test('a settings file that is a folder leaves the defaults', () => {
  const path = file();
  mkdirSync(path);
  const { current, found } = new SettingsService(path);
  expect([current.theme, found.map(({ code }) => code)]).toEqual(['system', ['SETTINGS_DAMAGED']]);
});
