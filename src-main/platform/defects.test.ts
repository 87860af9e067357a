import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const module = (path: string): string => JSON.stringify(join(import.meta.dirname, path));

/** Runs a program that logs its defects; returns its exit status, its output, and the events in its log. */
function run(code: string): { status: number | null; stdout: string; events: string[] } {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-defects-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'k.log');
  const program = `
    import { logDefects } from ${module('defects.ts')};
    import { fileLogger } from ${module('logger.ts')};
    logDefects(fileLogger(${JSON.stringify(path)}));
    setImmediate(() => console.log('went on'));
    ${code}`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return { status, stdout, events: lines.map((line) => (JSON.parse(line) as { event: string }).event) };
}

test('a promise that nobody waited for is written down, and the program goes on', () => {
  const { status, stdout, events } = run("void Promise.reject(new Error('lost'));");
  expect({ status, stdout, events }).toEqual({
    status: 0,
    stdout: 'went on\n',
    events: ['unhandled-rejection'],
  });
});

test('an exception is written down and ends the program', () => {
  const { status, stdout, events } = run("process.nextTick(() => { throw new Error('broken'); });");
  expect(status).not.toBe(0);
  expect({ stdout, events }).toEqual({ stdout: '', events: ['defect'] });
});
