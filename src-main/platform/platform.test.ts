import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fileLogger } from './logger.ts';
import { defaultDataDir, ensureWritableDir, fileError } from './paths.ts';
import { parseSettings, readSettingsFile, writeSettings } from './settings.ts';

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-platform-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

describe('the data folder', () => {
  test.each<[Record<string, string>, NodeJS.Platform, string]>([
    [{ KVASIR_DATA: '/k', XDG_DATA_HOME: '/x' }, 'linux', resolve('/k')],
    [{ HOME: '/h', XDG_DATA_HOME: '/x' }, 'linux', '/x/kvasir'],
    [{ HOME: '/h', XDG_DATA_HOME: 'relative' }, 'linux', '/h/.local/share/kvasir'],
    [{ HOME: '/h' }, 'linux', '/h/.local/share/kvasir'],
    [{ HOME: '/h' }, 'darwin', '/h/Library/Application Support/Kvasir'],
    [{ LOCALAPPDATA: '/l' }, 'win32', '/l/Kvasir'],
  ])('%j on %s', (env, platform, expected) => {
    expect(defaultDataDir(env, platform)).toBe(expected);
  });

  test('a folder that cannot be made is a typed error', () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    expect(() => ensureWritableDir(join(file, 'below'))).toThrow(
      expect.objectContaining({ code: 'STORE_READ_ONLY' }),
    );
    expect(() => ensureWritableDir(join(file, 'deep', 'below'))).toThrow(
      expect.objectContaining({ code: 'STORE_READ_ONLY' }),
    );
    if (existsSync('/proc/self')) {
      expect(() => ensureWritableDir('/proc/kvasir/x')).toThrow(
        expect.objectContaining({ code: 'STORE_READ_ONLY' }),
      );
    }
    expect(fileError({ code: 'ENOSPC' }, 'It could not be written').code).toBe('DISK_FULL');
  });
});

describe('settings', () => {
  test('defaults without a file, and what was written comes back; unknown keys stay', () => {
    const path = join(tempDir(), 'settings.json');
    expect(readSettingsFile(path)).toEqual({ values: {}, damage: undefined });
    writeFileSync(path, '{"future": 1, "topK": 3}');
    expect(writeSettings(path, { dtype: 'q8_0' })).toMatchObject({ topK: 3, dtype: 'q8_0' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ future: 1, topK: 3, dtype: 'q8_0' });
    expect(readdirSync(resolve(path, '..'))).toEqual(['settings.json']);
  });

  test('a bad change leaves the file as it is', () => {
    const path = join(tempDir(), 'settings.json');
    expect(() => writeSettings(path, { topK: -1 })).toThrow(
      expect.objectContaining({ code: 'BAD_ARGUMENT' }),
    );
    expect(existsSync(path)).toBe(false);
    expect(() => parseSettings({ topK: 1.5 })).toThrow(/topK/);
  });
});

describe('the log', () => {
  test('one JSON object a line, from the level asked for', () => {
    const path = join(tempDir(), 'k.log');
    const log = fileLogger(path, 'info', { now: () => 0, wall: () => 0 });
    log.debug('hidden');
    log.warn('seen', { file: 'a "b"\n' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      event: 'seen',
      file: 'a "b"\n',
    });
  });

  test('a log that cannot be written loses its lines and nothing else', () => {
    expect(() => fileLogger('/proc/none/k.log').error('lost')).not.toThrow();
  });
});
