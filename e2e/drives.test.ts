/** Data folders on drives that refuse locks or shared mappings, as SMB, FUSE and 9p mounts may: the real program. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aboutSamples, ask as askSamples } from '../tools/faults/baseline.ts';
import { hasDriveLayer, onDrive, onHangingDrive } from '../tools/faults/drive.ts';
import { RunningApp } from '../tools/faults/running-app.ts';
import {
  expectFailure,
  removeDir,
  ROOT,
  runCli,
  startCli,
  tempDir,
  waitForOutput,
  type CliResult,
} from './cli-support.ts';
import { readyData } from './support/ready-data.ts';
import { enter, WindowCalls } from './support/served-window.ts';

const { ENOTSUP, EINVAL, ENODEV } = constants.errno;
const ENOLCK = 37;
const FERRY = 'The ferry leaves the blue pier at seven.';
const DATABASES = /\.(sqlite|db)$/;

let dir: string;
let data: string;
beforeAll(() => {
  dir = realpathSync(tempDir());
  data = join(dir, 'data');
  mkdirSync(join(dir, 'docs'));
  writeFileSync(join(dir, 'docs', 'ferry.txt'), FERRY);
});
afterAll(() => removeDir(dir));

const run = (env: Record<string, string>, ...args: string[]): Promise<CliResult> =>
  runCli(['--data', data, ...args], env, dir);
const ask = (env: Record<string, string>): Promise<CliResult> =>
  run(env, 'ask', 'When does the ferry leave?', '--library', 'docs', '--json');

/** Hashes of the databases' files. */
function databases(): Record<string, string> {
  const names = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) =>
    DATABASES.test(name),
  );
  const hash = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(data, name)))
      .digest('hex');
  return Object.fromEntries(names.sort().map((name) => [name, hash(name)]));
}

const BUILT = existsSync(join(ROOT, 'out', 'renderer', 'index.html'));

describe.skipIf(!hasDriveLayer() || !BUILT)('a data folder on a drive', () => {
  test('that maps no files works: documents are read, answers made, and a killed process loses nothing', async () => {
    for (const errno of [ENODEV, EINVAL]) {
      const env = onDrive(data, 'mappings', errno);
      const { code, stderr, stdout } = await ask(env);
      expect(stderr).not.toContain('Error');
      expect(code).toBe(0);
      expect(stdout).toContain(FERRY);
    }
    const env = onDrive(data, 'mappings', ENODEV);
    const served = startCli(['serve', '--no-open', '--data', data], env, dir);
    const [address, port] = await waitForOutput(served, /^http:\/\/127\.0\.0\.1:(\d+)\/\?token=[\w-]+$/m);
    const window = { ...served, address, port: Number(port) };
    const calls = await WindowCalls.open(window, await enter(window));
    const { id } = await calls.call('libraries.create', { name: 'Kept' });
    served.child.kill('SIGKILL');
    await served.finished;
    const again = await ask(env);
    expect(again.stderr).not.toMatch(/damaged|set aside/);
    expect(again.code).toBe(0);
    const exported = await run(env, 'export', '--to', 'out');
    expect([exported.code, exported.stderr]).toEqual([0, '']);
    expect(readdirSync(join(dir, 'out', 'libraries')), id).toContain('Kept');
    // The folder is used on another drive again, and comes back.
    expect((await ask({})).code).toBe(0);
    expect((await ask(env)).code).toBe(0);
  });

  test.each([
    ['ENOLCK', ENOLCK],
    ['ENOTSUP', ENOTSUP],
    ['EINVAL', EINVAL],
  ])('that locks no files is refused with the reason, and left as it is: %s', async (_, errno) => {
    expect((await ask({})).code).toBe(0);
    const before = databases();
    expect(Object.keys(before).length).toBeGreaterThan(4);
    const refused = await ask(onDrive(data, 'locks', errno));
    expectFailure(refused, 'STORE_READ_ONLY');
    expect(refused.stderr).toContain('does not lock files');
    expect(refused.stderr).toContain('--data');
    expect(databases()).toEqual(before);
    expect(readdirSync(join(data, 'cache')).filter((name) => name.includes('probe'))).toEqual([]);
  });
});

test.skipIf(!hasDriveLayer())(
  'answers come without a cache folder whose drive hangs, and it is used again when it responds',
  async () => {
    const [drive, flag] = [join(dir, 'drive'), join(dir, 'hangs')];
    mkdirSync(drive);
    const app = await RunningApp.start(await readyData(join(dir, 'ready')), onHangingDrive(drive, flag));
    const onDriveNow = async () => (await app.call('cache.folders', {})).folders[1];
    try {
      await app.call('cache.addFolder', { path: drive, budgetBytes: 1e9 });
      await app.call('settings.update', { diskBudgetBytes: 0, memoryBudgetBytes: 0 });
      await expect.poll(async () => (await onDriveNow())?.chunks).toBeGreaterThan(100);
      const { id } = await aboutSamples(app);
      await askSamples(app, id);
      writeFileSync(flag, '');
      const asked = aboutSamples(app).then((other) => askSamples(app, other.id));
      // A main thread that waited for the drive would answer none of these: the drive responds only below.
      for (let done = false; !done; done = await Promise.race([asked.then(() => true), sleep(50, false)]))
        await app.call('cache.stats', {});
      expect(await onDriveNow()).toMatchObject({ state: 'not-responding' });
      rmSync(flag);
      await expect.poll(async () => (await onDriveNow())?.state, { timeout: 60_000 }).toBe('ready');
      await askSamples(app, id);
    } finally {
      rmSync(flag, { force: true });
      await app.kill();
    }
  },
);
