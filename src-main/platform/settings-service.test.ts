import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { contract } from '../../src-shared/contract/contract.ts';
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
  expect(settings.topK).toBe(6);
  expect(settings.chunkTokens).toBeUndefined();
  expect(settings.maxTokens).toBe(5);
});

test('a refused change changes nothing', () => {
  const service = new SettingsService(file());
  expect(() => service.update({ topK: 0 })).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
  expect(service.current.topK).toBe(6);
});

test('listeners hear of a change and of what was before', () => {
  const service = new SettingsService(file());
  const heard: [number, number][] = [];
  const end = service.onChange((now, before) => heard.push([now.topK, before.topK]));
  service.update({ topK: 7 });
  end();
  service.update({ topK: 8 });
  expect(heard).toEqual([[7, 6]]);
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
