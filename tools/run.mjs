// Entry point of every npm script: `node tools/run.mjs [--browser] <script.ts> [arguments]` runs setup if needed (--browser: including a
// browser for the window's tests), then runs the script on the project's own Node, which strips the types from TypeScript.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { SetupError } from './setup/errors.mjs';
import { NODE_FLAGS, nodePath, ROOT, STATE } from './setup/platform.mjs';
import { setup } from './setup/setup.mjs';

const given = process.argv.slice(2);
const browser = given[0] === '--browser';
const [script, ...args] = browser ? given.slice(1) : given;
if (script === undefined) {
  console.error('Usage: node tools/run.mjs [--browser] <script> [arguments]');
  process.exit(2);
}

try {
  await setup({ browser, quietWhenFresh: true });
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`\n${error.message}${error.details === '' ? '' : `\n\n${error.details}`}`);
  process.exit(1);
}

const child = spawn(nodePath(), [...NODE_FLAGS, join(ROOT, script), ...args], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: [join(ROOT, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter),
    // Without it, each process strips and compiles every module again, half of the time that a short command takes. Tests start hundreds.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(STATE, 'compile-cache'),
  },
});

// A terminal also sends Ctrl-C to the child; forwarding it would deliver it twice.
const fromTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
process.on('SIGINT', () => {
  if (!fromTerminal) child.kill('SIGINT');
});
process.on('SIGTERM', () => child.kill('SIGTERM'));
process.on('SIGHUP', () => child.kill('SIGHUP'));

child.on('error', (error) => {
  console.error(`${nodePath()} could not be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
});
