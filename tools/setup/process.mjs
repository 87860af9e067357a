import { spawn } from 'node:child_process';
import { delimiter, join, resolve } from 'node:path';
import { SetupError } from './errors.mjs';
import { isWindows, NODE_MODULES } from './platform.mjs';

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** Ends the processes that setup started; called when setup itself receives a signal. */
export function killChildren() {
  for (const child of running) child.kill('SIGTERM');
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {Record<string, string>} [env] added to setup's own environment
 * @property {string} [input] written to the program's standard input
 * @property {(line: string) => void} [onLine] called with each line of standard output
 *
 * @typedef {{ code: number, stdout: string, output: string }} RunResult `output` is stdout and stderr, interleaved
 */

/**
 * Runs a program and collects its output. Resolves with any exit code; rejects if the program is not found.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolvePromise, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...environment(), ...options.env },
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
      // npm is a .cmd file on Windows, which only a shell can start.
      shell: isWindows && command === 'npm',
    });
    running.add(child);
    let stdout = '';
    let output = '';
    let unfinishedLine = '';
    child.stdout?.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      stdout += text;
      output += text;
      const lines = (unfinishedLine + text).split(/\r?\n|\r/);
      unfinishedLine = lines.pop() ?? '';
      for (const line of lines) options.onLine?.(line);
    });
    child.stderr?.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      output += text;
    });
    child.stdin?.on('error', () => undefined).end(options.input);
    child.on('error', (error) => {
      running.delete(child);
      const missing = 'code' in error && error.code === 'ENOENT';
      reject(missing ? new SetupError(`${command} was not found on PATH.`) : error);
    });
    child.on('close', (code, signal) => {
      running.delete(child);
      resolvePromise({ code: code ?? (signal === null ? 1 : 128), stdout, output });
    });
  });
}

/**
 * Like run, for programs that must succeed.
 *
 * @param {string} failure the sentence to show if it fails
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export async function mustRun(failure, command, args, options) {
  const result = await run(command, args, options);
  if (result.code !== 0) throw new SetupError(failure, lastLines(result.output, 25));
  return result;
}

/**
 * The first line of a program's output, or undefined if it is missing or fails.
 *
 * @param {string} command
 * @param {string[]} args
 */
export async function probe(command, args) {
  try {
    const { code, output } = await run(command, args);
    return code === 0 ? (output.split('\n')[0]?.trim() ?? '') : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} text @param {number} count */
export function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** npm puts node_modules/.bin first on PATH, where npm would run on the very Node it is about to replace. */
function environment() {
  const own = resolve(join(NODE_MODULES, '.bin'));
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => resolve(folder) !== own);
  return { ...process.env, PATH: path.join(delimiter) };
}
