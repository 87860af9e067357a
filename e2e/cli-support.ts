import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { MKGGUF } from '../tools/random-model/random-model.ts';
import { PROGRAM } from '../tools/setup/platform.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
export const DEMO_MODEL = join(ROOT, 'resources', 'models', 'kvasir-demo.gguf');

/** Clears variables of the test environment that would change results. */
const PLAIN = { KVASIR_DATA: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined };

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli {
  child: ChildProcess;
  finished: Promise<CliResult>;
}

/** Starts the real program, without colours and with only the given data folder. */
export function startCli(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = ROOT): RunningCli {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...process.env, ...PLAIN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (data: string) => (stdout += data));
  child.stderr.setEncoding('utf8').on('data', (data: string) => (stderr += data));
  const finished = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, finished };
}

export function runCli(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = ROOT): Promise<CliResult> {
  return startCli(args, env, cwd).finished;
}

/** The first match in a running program's stdout or stderr; rejects if the program ends first. */
export async function waitForOutput(
  { child, finished }: RunningCli,
  words: RegExp,
): Promise<RegExpExecArray> {
  let text = '';
  const heard = new Promise<RegExpExecArray>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: string) => {
        text += data;
        const match = words.exec(text);
        if (match) resolve(match);
      });
  });
  const ended = finished.then(({ code, stderr }) => {
    throw new Error(`the program ended with ${code}: ${stderr}`);
  });
  ended.catch(() => undefined); // the program may end after the match
  return Promise.race([heard, ended]);
}

/** Expects an error message with its code and optional advice, without a stack. */
export function expectFailure(finished: CliResult, code: string, exitCode = 1): void {
  expect(finished.stderr).toMatch(new RegExp(`^Error: .+\\. \\[${code}\\]$`, 'm'));
  expect(finished.stderr).not.toMatch(/^\s+at /m);
  expect(finished.code).toBe(exitCode);
}

export function tempDir(): string {
  return mkdtempSync(join(tmpdir(), 'kvasir-e2e-'));
}

export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

export function writeFiles(dir: string, files: Record<string, string | Buffer>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** Writes a random-weight GGUF: its answers are noise, its files and sizes are real. */
export function makeModel(path: string, options: Record<string, string | number> = {}): string {
  const shape = {
    layers: 3,
    embd: 64,
    heads: 2,
    'kv-heads': 1,
    'head-dim': 32,
    ff: 128,
    context: 2048,
    ...options,
  };
  const flags = Object.entries(shape).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const made = spawnSync(MKGGUF, ['--out', path, ...flags], {
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`kvasir-mkgguf failed: ${made.stderr}`);
  return path;
}

/** Hashes of a data folder's chunk files, by name. */
export function chunkFiles(data: string): Map<string, string> {
  const dir = join(data, 'cache', 'chunks');
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.kvc'),
  );
  return new Map(
    files.sort().map((name) => [
      join(dir, name),
      createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex'),
    ]),
  );
}

export const DOCUMENTS = {
  'mara.md':
    '# Mara Lind\n\nMara Lind is an engineer at the company. She joined in 2014.\n\nShe works in the Oslo office. Her favourite sport is rowing.\n',
  'jon.txt': 'Jon Berg sells tea in Porto. He plays chess at weekends, and drinks coffee with friends.\n',
  'house/kitchen.md':
    '# The kitchen\n\nThe kitchen opens at eight. Tea is free for everybody in the Oslo office.\n',
};

export const QUESTION = 'Where does Mara work?';
