import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findBrowser, NO_BROWSER, PINNED, PLAYWRIGHT } from './browser.mjs';
import { platformName, ROOT } from './platform.mjs';

/** A machine with these files only. */
function machine(files: string[], env: Record<string, string> = {}, platform: NodeJS.Platform = 'linux') {
  return {
    platform,
    env,
    exists: (path: string) => files.includes(path),
    filesUnder: (folder: string) => files.filter((path) => path.startsWith(folder)),
  };
}

const pinned = join(PINNED, 'chromium');

describe('the browser for UI tests', () => {
  it('is the one that KVASIR_CHROMIUM names, if set', () => {
    expect(findBrowser(machine([pinned, '/mine'], { KVASIR_CHROMIUM: '/mine' }))).toEqual({
      path: '/mine',
      env: {},
    });
    expect(() => findBrowser(machine([pinned], { KVASIR_CHROMIUM: '/gone' }))).toThrow(
      '/gone, which does not exist',
    );
  });

  it('is the pinned one rather than an installed one, so that everybody tests with the same', () => {
    expect(findBrowser(machine([pinned, '/usr/bin/chromium'], { PATH: '/usr/bin' }))?.path).toBe(pinned);
  });

  it('includes its libraries, and a font if the system has none', () => {
    const bare = findBrowser(machine([pinned], { LD_LIBRARY_PATH: '/own' }));
    expect(bare?.env).toEqual({
      LD_LIBRARY_PATH: `${join(PINNED, 'lib')}:/own`,
      FONTCONFIG_PATH: join(PINNED, 'fonts'),
    });
    const furnished = findBrowser(machine([pinned, '/etc/fonts/fonts.conf']));
    expect(furnished?.env).toEqual({ LD_LIBRARY_PATH: join(PINNED, 'lib') });
  });

  it('is otherwise an installed Chrome, Chromium or Edge', () => {
    const edge = 'C:\\Programs/Microsoft/Edge/Application/msedge.exe';
    const chrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
    expect(findBrowser(machine(['/b/google-chrome'], { PATH: '/a:/b' }))?.path).toBe('/b/google-chrome');
    expect(findBrowser(machine(['/opt/microsoft/msedge/msedge']))?.path).toBe('/opt/microsoft/msedge/msedge');
    expect(findBrowser(machine([chrome], {}, 'darwin'))?.path).toBe(chrome);
    expect(findBrowser(machine([edge], { ProgramFiles: 'C:\\Programs' }, 'win32'))?.path).toBe(edge);
  });

  it('is otherwise one that Playwright downloaded, or none', () => {
    const shell = join(PLAYWRIGHT, 'chromium_headless_shell-1', 'chrome-mac', 'headless_shell');
    expect(findBrowser(machine([join(PLAYWRIGHT, 'readme'), shell], {}, 'darwin'))?.path).toBe(shell);
    expect(findBrowser(machine([]))).toBeUndefined();
  });
});

// The setup's browser must work on a machine without libraries or fonts.
describe.skipIf(!existsSync(pinned))('the pinned browser', () => {
  it('is the one that `npm test` uses here', () => {
    if (!process.env['KVASIR_CHROMIUM']) expect(findBrowser()?.path).toBe(pinned);
  });

  it('shows a page with its own libraries and its own font only', async () => {
    const env = { ...findBrowser(machine([pinned]))?.env, HOME: temporary() };
    const browser = await chromium.launch({ executablePath: pinned, env });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.setContent('<p>Kvasir</p>');
    expect((await page.getByText('Kvasir').boundingBox())?.height).toBeGreaterThan(0);
    const libraries = execFileSync('ldd', [pinned], { env: { ...process.env, ...env }, encoding: 'utf8' });
    expect(libraries).toContain(`libnss3.so => ${join(PINNED, 'lib')}`);
  });
});

describe.skipIf(process.platform === 'win32')('setup when no browser is available', () => {
  it('continues and says which tests will be skipped', () => {
    const root = temporary();
    for (const path of ['tools', 'resources/gpu-packs.json'])
      cpSync(join(ROOT, path), join(root, path), { recursive: true });
    const bin = join(root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\necho "npm error network is unreachable" >&2; exit 1\n');
    chmodSync(join(bin, 'npm'), 0o755);
    const step = join(root, 'tools', 'setup', 'steps', 'browser.mjs');
    const script = `const { browser } = await import(${JSON.stringify(step)});
      console.log(browser.isFresh(), await browser.run(undefined, () => undefined));`;
    // PATH contains no system folder, and thus none of the system's browsers.
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: bin, HOME: root },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(stdout).toBe(`false ${NO_BROWSER}\n`);
  });
});

it('every platform with a browser package has the pinned browser', () => {
  // Otherwise `npm test` would use whichever browser is installed, on CI and for most contributors.
  if (platformName === 'linux-x64' && process.env['CI'] !== undefined) expect(existsSync(pinned)).toBe(true);
});

function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), 'kvasir-browser-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
