import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chooseHost, electronBinary } from './choose-host.ts';
import { hasDisplay } from './display.ts';

const ELECTRON = '/electron';

describe('npm start', () => {
  test.each([[[]], [['--data', '/x']], [['--data=/x', '--debug']]])(
    'with %j opens the desktop app',
    (args) => {
      const choice = chooseHost(args, { electron: ELECTRON, display: true });
      expect(choice.electron).toBe(ELECTRON);
      expect(choice.reason).toMatch(/^Opening Kvasir on the desktop/);
    },
  );

  test.each([
    [undefined, true, "Electron's binary is not installed"],
    [undefined, false, "Electron's binary is not installed"],
    [ELECTRON, false, 'there is no display'],
  ])('with Electron %s and display %s shows a browser, and says why', (electron, display, why) => {
    const { electron: chosen, reason } = chooseHost([], { electron, display });
    expect(chosen).toBeUndefined();
    expect(reason).toBe(`Showing Kvasir's window in a browser, because ${why}.`);
  });

  test.each([
    [['serve']],
    [['--port', '0']],
    [['ask', 'Why?']],
    [['--help']],
    [['--data']],
    [['cache', 'ls', '--data', '/x']],
  ])('with %j is the command line, and says nothing', (args) => {
    expect(chooseHost(args, { electron: ELECTRON, display: true })).toEqual({
      electron: undefined,
      reason: '',
    });
  });
});

test("Electron's binary is found where it is, and not asked for where it is not", () => {
  const root = mkdtempSync(join(tmpdir(), 'kvasir-binary-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  expect(electronBinary(root, 'linux', {})).toBeUndefined();
  const dist = join(root, 'node_modules', 'electron', 'dist');
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, 'electron'), '');
  chmodSync(join(dist, 'electron'), 0o755);
  expect(electronBinary(root, 'linux', {})).toBe(join(dist, 'electron'));
  expect(electronBinary(root, 'win32', {})).toBeUndefined();
  expect(electronBinary(root, 'aix', {})).toBeUndefined();
  expect(electronBinary('/nowhere', 'linux', { ELECTRON_OVERRIDE_DIST_PATH: dist })).toBe(
    join(dist, 'electron'),
  );
});

test.each([
  [{}, 'linux', false],
  [{ DISPLAY: '' }, 'linux', false],
  [{ DISPLAY: ':0' }, 'linux', true],
  [{ DISPLAY: '', WAYLAND_DISPLAY: 'wayland-0' }, 'linux', true],
  [{}, 'darwin', true],
  [{}, 'win32', true],
  [{ SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, 'darwin', false],
] as const)('with %j on %s there is a display: %s', (env, platform, display) => {
  expect(hasDisplay(env, platform)).toBe(display);
});
