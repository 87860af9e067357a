import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withLock } from './lock.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kvasir-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const ignore = () => undefined;
const done = () => Promise.resolve('done');

function leaveLock(holder: object, secondsAgo = 0): void {
  const path = join(folder, 'lock');
  writeFileSync(path, JSON.stringify(holder));
  const then = new Date(Date.now() - secondsAgo * 1000);
  utimesSync(path, then, then);
}

/** Runs code in a separate process, with the lock's module and folder in scope. */
function run(code: string): Promise<number | null> {
  const lockModule = new URL('./lock.mjs', import.meta.url).href;
  const script = `import { withLock } from '${lockModule}';
    import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
    const folder = ${JSON.stringify(folder)};
    ${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  return new Promise((resolve) => child.on('exit', resolve));
}

it("returns the work's result and releases the lock", async () => {
  expect(await withLock(folder, ignore, done)).toBe('done');
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});

it('releases the lock when the work fails', async () => {
  await expect(withLock(folder, ignore, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(folder, ignore, done)).toBe('done');
});

it('admits one process at a time', async () => {
  writeFileSync(join(folder, 'count'), '0');
  // Without the lock, reading, waiting and writing would lose most of these increments.
  const increment = `await withLock(folder, () => undefined, async () => {
    const count = Number(readFileSync(folder + '/count', 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    writeFileSync(folder + '/count', String(count + 1));
  });`;
  await Promise.all(Array.from({ length: 5 }, () => run(increment)));
  expect(readFileSync(join(folder, 'count'), 'utf8')).toBe('5');
});

it('takes over from a killed process', async () => {
  const code = await run(
    `await withLock(folder, () => undefined, async () => process.kill(process.pid, 'SIGKILL'));`,
  );
  expect(code).toBeNull();
  expect(existsSync(join(folder, 'lock'))).toBe(true);
  expect(await withLock(folder, ignore, done)).toBe('done');
});

it('is released by process.exit', async () => {
  expect(await run(`await withLock(folder, () => undefined, async () => process.exit(3));`)).toBe(3);
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});

it('takes over from another machine after a minute without a heartbeat, not earlier', async () => {
  const elsewhere = { id: 'x', pid: process.pid, host: `not-${hostname()}` };
  leaveLock(elsewhere, 61);
  expect(await withLock(folder, ignore, done)).toBe('done');

  leaveLock(elsewhere, 30);
  let waitedFor: string | undefined;
  const waiting = withLock(folder, (holder) => (waitedFor = holder.host), done);
  await expect.poll(() => waitedFor).toBe(elsewhere.host);
  rmSync(join(folder, 'lock'));
  expect(await waiting).toBe('done');
});

it('takes over a partially written lock', async () => {
  writeFileSync(join(folder, 'lock'), '{"id":');
  const then = new Date(Date.now() - 61_000);
  utimesSync(join(folder, 'lock'), then, then);
  expect(await withLock(folder, ignore, done)).toBe('done');
});
