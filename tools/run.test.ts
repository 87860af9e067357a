import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodePath, ROOT, STATE } from './setup/platform.mjs';

describe.skipIf(process.platform === 'win32')('the launcher', () => {
  let folder = '';
  let script = '';
  const env = { ...process.env, KVASIR_SKIP_SETUP: '1' };
  const launcher = join(ROOT, 'tools/run.mjs');

  beforeAll(() => {
    mkdirSync(STATE, { recursive: true });
    folder = mkdtempSync(join(STATE, 'run-test-'));
    const path = join(folder, 'script.ts');
    writeFileSync(
      path,
      `const [what, value]: string[] = process.argv.slice(2);
       if (what === 'exit') process.exit(Number(value));
       else if (what === 'wait') { console.log('ready'); setInterval(() => {}, 1000); }
       else console.log(JSON.stringify([process.version, process.argv.slice(2)]));`,
    );
    script = relative(ROOT, path);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("runs TypeScript on the project's Node and passes its arguments", () => {
    const run = spawnSync(process.execPath, [launcher, script, 'a b', '--json'], { env, encoding: 'utf8' });
    const version = spawnSync(nodePath(), ['--version'], { encoding: 'utf8' }).stdout.trim();
    expect(JSON.parse(run.stdout)).toEqual([version, ['a b', '--json']]);
    expect(run.stderr).toBe('');
  });

  it('returns the exit code', () => {
    expect(spawnSync(process.execPath, [launcher, script, 'exit', '7'], { env }).status).toBe(7);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('forwards %s', async (signal, code) => {
    const child = spawn(process.execPath, [launcher, script, 'wait'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill(signal);
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(code);
  });
});
