/** `export` with the real program: everything in open formats, to a folder and to a ZIP file. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasLayer, withFault } from '../tools/faults/disk/layer.ts';
import { expectFailure, removeDir, runCli, tempDir, type CliResult } from './cli-support.ts';
import { runHere } from './support/in-process.ts';

let dir: string;
const at = (name: string): string => join(dir, name);
const run = (...args: string[]): Promise<CliResult> => runHere(['--data', at('data'), ...args], { cwd: dir });

beforeAll(async () => {
  dir = tempDir();
  mkdirSync(at('docs'));
  writeFileSync(at('docs/ferry.txt'), 'The ferry leaves the blue pier at seven.');
  writeFileSync(at('docs/lamp.txt'), 'The lamp burns oil.');
  expect((await run('ask', 'When does the ferry leave?', '--library', 'docs', '--no-precompute')).code).toBe(
    0,
  );
});

afterAll(() => removeDir(dir));

test('a folder has the documents, their text and the settings; a second run makes another', async () => {
  const { code, stdout, stderr } = await run('export', '--to', 'out');
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toContain(`to ${at('out')}. README.txt in it says what they are.`);
  const [library = ''] = readdirSync(at('out/libraries')).filter((name) => /docs/.test(name));
  const [source = ''] = readdirSync(at(`out/libraries/${library}/originals`));
  const original = at(`out/libraries/${library}/originals/${source}/ferry.txt`);
  expect(readFileSync(original, 'utf8')).toBe('The ferry leaves the blue pier at seven.');
  expect(readFileSync(at('out/README.txt'), 'utf8')).toMatch(/^Export from Kvasir/);
  expect((await run('export', '--to', 'out')).stdout).toMatch(/out[\\/]Kvasir export \d{4}-/);
});

test('originals that are gone are named, and the exit status says so', async () => {
  cpSync(at('docs/lamp.txt'), at('lamp.txt'));
  rmSync(at('docs/lamp.txt'));
  const { code, stderr } = await run('export', '--to', 'gone.zip');
  cpSync(at('lamp.txt'), at('docs/lamp.txt'));
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Incomplete: lamp\.txt: The original could not be read: ENOENT/m);
  expect(existsSync(at('gone.zip'))).toBe(true);
});

test.runIf(hasLayer()).each(['out', 'out.zip'])('a drive that fills up leaves nothing: %s', async (name) => {
  const target = join(realpathSync(dir), `full-${name}`);
  mkdirSync(target);
  const env = withFault(target, at('calls'), { kind: 'full', at: 4 });
  const failed = await runCli(['--data', at('data'), 'export', '--to', join(target, name)], env, dir);
  expectFailure(failed, 'DISK_FULL');
  expect(readdirSync(target)).toEqual([]);
});

test('a target that exists or cannot be written is an error with advice', async () => {
  writeFileSync(at('there.zip'), '');
  expectFailure(await run('export', '--to', 'there.zip'), 'BAD_ARGUMENT', 2);
  expectFailure(await run('export', '--to', 'no/such/folder/out'), 'BAD_ARGUMENT', 2);
});
