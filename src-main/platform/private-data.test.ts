import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makePrivate } from './private-data.ts';

/** A world-readable folder, as an earlier version created it. */
function openFolder(files: readonly string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-private-'));
  const umask = process.umask(0o022);
  onTestFinished(() => {
    process.umask(umask);
    rmSync(dir, { recursive: true, force: true });
  });
  execFileSync('chmod', ['755', dir]);
  for (const file of files) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), 'private');
  }
  return dir;
}

const modeOf = (...path: string[]): string => (statSync(join(...path)).mode & 0o777).toString(8);

describe.skipIf(process.platform === 'win32')("the data folder is its user's own", () => {
  test('what an earlier version left open, and what comes later', () => {
    const files = [
      'catalogue.sqlite',
      'kvasir.log',
      'settings.json',
      'libraries/x/sub/a.txt',
      'cache/chunks/00/a.kvc',
    ];
    const dir = openFolder(files);
    makePrivate(dir);
    for (const file of files) expect([file, modeOf(dir, file)]).toEqual([file, '600']);
    for (const folder of ['.', 'libraries', 'libraries/x/sub', 'cache/chunks/00'])
      expect([folder, modeOf(dir, folder)]).toEqual([folder, '700']);
    writeFileSync(join(dir, 'new'), '');
    mkdirSync(join(dir, 'newer'));
    expect([modeOf(dir, 'new'), modeOf(dir, 'newer')]).toEqual(['600', '700']);
  });

  test('a folder that holds other things too stays open, and so do they', () => {
    const dir = openFolder(['catalogue.sqlite', 'holiday.txt']);
    makePrivate(dir);
    expect([modeOf(dir), modeOf(dir, 'catalogue.sqlite'), modeOf(dir, 'holiday.txt')]).toEqual([
      '755',
      '600',
      '644',
    ]);
  });

  test('a link is not followed', () => {
    const elsewhere = openFolder(['a.txt']);
    const dir = openFolder(['settings.json']);
    symlinkSync(elsewhere, join(dir, 'models'));
    makePrivate(dir);
    expect([modeOf(elsewhere), modeOf(elsewhere, 'a.txt')]).toEqual(['755', '644']);
  });
});
