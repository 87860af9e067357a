import { SetupError } from './errors.mjs';
import { removeLeftovers } from './download.mjs';
import { withLock } from './lock.mjs';
import { checkPlatform, ROOT, STATE } from './platform.mjs';
import { killChildren } from './process.mjs';
import { say, seconds, StepLine } from './report.mjs';
import { browser } from './steps/browser.mjs';
import { backends, BACKEND_NAMES, hintAtBackends } from './steps/backends.mjs';
import { headers } from './steps/headers.mjs';
import { libraries } from './steps/libraries.mjs';
import { native } from './steps/native.mjs';
import { packages } from './steps/packages.mjs';
import { buildProgram, program } from './steps/program.mjs';
import { checkTools } from './steps/tools.mjs';
import { window } from './steps/window.mjs';

/**
 * @typedef {object} Options
 * @property {import('./steps/backends.mjs').Backend[]} [backends] for GPUs, to install
 * @property {boolean} [browser] also provide a browser for the UI tests
 * @property {boolean} quietWhenFresh print nothing if there is nothing to do
 *
 * @typedef {import('./steps/tools.mjs').Tools} Tools
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {() => boolean} isFresh fast; true if there is nothing to do
 * @property {(tools: Tools, update: (note: string) => void) => Promise<string>} run resolves with a one-line summary
 */

/**
 * Runs the stale steps in order. Each step leaves either its whole result or none, so an interrupted setup resumes where it stopped.
 *
 * @param {Options} options
 */
export async function setup(options) {
  if (process.env.KVASIR_SKIP_SETUP === '1') return;
  const started = performance.now();
  checkPlatform();
  const steps = [
    packages,
    headers,
    libraries,
    ...backends([...(options.backends ?? []), ...askedByEnvironment()]),
    native,
    program,
    window,
    ...(options.browser === true ? [browser] : []),
  ];
  if (steps.every((step) => step.isFresh())) {
    if (!options.quietWhenFresh) {
      say(`Everything is in place (${seconds(performance.now() - started)}).`);
      hintAtBackends();
    }
    return;
  }

  const end = stopOn(['SIGINT', 'SIGTERM', 'SIGHUP']);
  try {
    await alone(() => runSteps(steps));
  } finally {
    end();
  }
  say(`Set up in ${seconds(performance.now() - started)}.\n`);
  if (!options.quietWhenFresh) hintAtBackends();
}

/** Bundles the program's current sources; needs the packages. Tests start with it, whether or not setup ran. */
export async function bundleProgram() {
  if (program.isFresh()) return;
  await alone(async () => {
    if (program.isFresh()) return;
    await inOneLine(program.name, async (update) => ({ summary: await buildProgram(update) }));
  });
}

/** @param {() => Promise<void>} work */
function alone(work) {
  return withLock(
    STATE,
    (holder) =>
      say(`Another setup is running here (process ${holder.pid} on ${holder.host}); waiting for it.`),
    work,
  );
}

/** KVASIR_CUDA=1, KVASIR_VULKAN=1 */
function askedByEnvironment() {
  return BACKEND_NAMES.filter((name) => process.env[`KVASIR_${name.toUpperCase()}`] === '1');
}

/** @param {Step[]} steps */
async function runSteps(steps) {
  // Another setup may have finished everything while this one waited.
  if (steps.every((step) => step.isFresh())) return;
  removeLeftovers();
  say(`Setting up Kvasir in ${ROOT}`);
  const tools = await inOneLine('tools', checkTools);
  for (const step of steps) {
    if (step.isFresh()) continue;
    await inOneLine(step.name, async (update) => ({ summary: await step.run(tools, update) }));
  }
}

/**
 * @template {{ summary: string }} T
 * @param {string} name
 * @param {(update: (note: string) => void) => Promise<T>} work
 */
async function inOneLine(name, work) {
  const line = new StepLine(name);
  try {
    const result = await work((note) => line.update(note));
    line.done(result.summary);
    return result;
  } catch (error) {
    line.failed();
    if (error instanceof SetupError || !(error instanceof Error)) throw error;
    if ('code' in error && (error.code === 'ENOSPC' || error.code === 'EACCES' || error.code === 'EROFS')) {
      const why = error.code === 'ENOSPC' ? 'the disk is full' : 'the folder cannot be written';
      throw new SetupError(`Setup stopped because ${why}.`, error.message);
    }
    throw error;
  }
}

/**
 * On one of these signals, ends the child processes and exits; the exit releases the lock.
 *
 * @param {('SIGINT' | 'SIGTERM' | 'SIGHUP')[]} signals
 */
function stopOn(signals) {
  const stop = (/** @type {string} */ signal) => {
    killChildren();
    say('\nSetup was interrupted; the next run resumes it.');
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  for (const signal of signals) process.once(signal, stop);
  return () => {
    for (const signal of signals) process.off(signal, stop);
  };
}
