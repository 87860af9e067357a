import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findBrowser, NO_BROWSER } from '../setup/browser.mjs';
import { NATIVE_BUILD, ROOT, STATE } from '../setup/platform.mjs';
import { runCommand, runTool, type CommandResult } from './command.ts';
import { add, ctestCounts, NONE, playwrightCounts, vitestCounts, type Counts } from './counts.ts';
import { halvesOfCores } from './halves.ts';
import { nativeIncludeProblems } from './native-includes.ts';
import { nativeLineProblems } from './native-lines.ts';

export interface StepResult {
  ok: boolean;
  /** Output to show on failure. */
  output: string;
  /** It was shown as it arrived. */
  shown?: boolean;
  /** Printed even if the step passed. */
  note?: string;
  /** Test counts; undefined for steps that are not tests. */
  counts?: Counts;
}

export interface SuiteStep {
  name: string;
  run(): Promise<StepResult>;
}

const NATIVE_TESTS = join(NATIVE_BUILD, 'kvasir-native-tests');

/** Shared code must compile without the types of Node and browsers. */
const shared: SuiteStep = {
  name: 'shared',
  run: async () => plain(await runTool('typescript/bin/tsc', ['-p', 'tsconfig.shared.json', '--pretty'])),
};

/** Rules, and the types of all files. */
const lint: SuiteStep = {
  name: 'lint',
  run: async () =>
    plain(await runTool('oxlint/bin/oxlint', ['--report-unused-disable-directives', '--deny-warnings'])),
};

const format: SuiteStep = {
  name: 'format',
  async run() {
    const result = await runTool('oxfmt/bin/oxfmt', ['--check']);
    return { ok: isOk(result), output: `${result.output}\`npm run format\` fixes them.` };
  },
};

/** Files that nothing imports, exports that no other file uses, and import cycles (knip.json). */
const unused: SuiteStep = {
  name: 'unused',
  run: async () =>
    plain(
      await runTool('knip/bin/knip.js', [
        '--no-progress',
        '--include',
        'files,exports,types,duplicates,cycles',
      ]),
    ),
};

const nativeIncludes: SuiteStep = {
  name: 'includes',
  run() {
    const problems = nativeIncludeProblems(ROOT);
    return Promise.resolve({ ok: problems.length === 0, output: problems.join('\n') });
  },
};

const nativeLines: SuiteStep = {
  name: 'lines',
  run() {
    const problems = nativeLineProblems(ROOT);
    return Promise.resolve({ ok: problems.length === 0, output: problems.join('\n') });
  },
};

/** The checks that every commit must pass: less than a minute. */
export const CHECKS = [lint, shared, format, unused, nativeIncludes, nativeLines];

export const unit: SuiteStep = { name: 'unit', run: () => vitest('unit', false) };

/** Takes minutes, so its output is shown as it arrives. */
export const e2e: SuiteStep = { name: 'e2e', run: () => vitest('e2e', true) };

/** In full, the tests that `e2e` runs in a short form: those that ask e2e/support/full.ts. */
export const full: SuiteStep = {
  name: 'full',
  run() {
    process.env['KVASIR_FULL'] = '1';
    return vitest('e2e', true, [
      'cli-demo',
      'client-texts',
      'embedding-rules',
      'faults',
      'guests-thousand',
      'hybrid-histories',
      'llama-engine',
      'missing-notice',
      'parity',
      'store-crash',
      'world',
    ]);
  },
};

/** In full, the unit tests that `unit` runs in a short form: a minute of each kind of message and template, and more questions. */
export const fullUnit: SuiteStep = {
  name: 'unit',
  run() {
    process.env['KVASIR_FULL'] = '1';
    return vitest('unit', true, ['tools/fuzz/messages', 'bench/quality/ratios']);
  },
};

/**
 * Two parts side by side, each on half of the cores: the threads of a tiny graph wait for each other longer than they compute, many times
 * over if two graphs share cores. A test of every architecture runs once more on all of them.
 */
export const native: SuiteStep = {
  name: 'native',
  async run() {
    const halves = await halvesOfCores();
    if (!halves || !existsSync(NATIVE_TESTS)) return nativeThreads.run();
    const parts = halves.map((cores, i) =>
      runCommand('taskset', ['-c', cores, NATIVE_TESTS, '--part', String(i + 1), '2']),
    );
    const results = await Promise.all(parts);
    results.push(await runCommand(NATIVE_TESTS, ['ratio_one_is_full_prefill_bit_for_bit']));
    const counts = add(...results.map(({ output, code }) => ctestCounts(output, code)));
    const output = results.map((result) => failuresOnly(result.output)).join('');
    return { ok: results.every(isOk) && counts.failed === 0, output, counts };
  },
};

/** The same tests, all on all cores. */
export const nativeThreads: SuiteStep = {
  name: 'threads',
  async run() {
    const result = await runCommand(ctestPath(), ['--test-dir', NATIVE_BUILD, '--verbose', '-C', 'Release']);
    if (/No tests were found/.test(result.output)) return { ok: true, output: '', counts: NONE };
    const counts = ctestCounts(result.output, result.code);
    return { ok: isOk(result) && counts.failed === 0, output: failuresOnly(result.output), counts };
  },
};

/** The output of native tests without the lines of those that passed. */
function failuresOnly(output: string): string {
  return output.replaceAll(/^(?:\d+: )?ok .*\n/gm, '');
}

/** Runs one step and prints its line, plus its output on failure. A step that throws has failed. */
export async function runStep(step: SuiteStep): Promise<StepResult> {
  const started = performance.now();
  let result: StepResult;
  try {
    result = await step.run();
  } catch (error) {
    result = { ok: false, output: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  const time = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const tests = result.counts === undefined ? '' : describe(result.counts);
  console.log(`${result.ok ? '✓' : '✗'} ${step.name.padEnd(9)} ${time.padStart(8)}  ${tests}`.trimEnd());
  if (result.note !== undefined) console.log(`  ${result.note}`);
  if (!result.ok && result.shown !== true) console.log(`\n${result.output.trim()}\n`);
  return result;
}

/** Shows again what failed, for readers of a log's end: test runners name their failures last. */
export function showFailures(steps: readonly SuiteStep[], results: readonly StepResult[]): void {
  for (const [i, { name }] of steps.entries()) {
    const result = results[i];
    if (!result || result.ok) continue;
    console.log(`\nThe end of what ${name} printed:\n`);
    console.log(result.output.trim().split('\n').slice(-40).join('\n'));
  }
}

/** Runs steps two at a time (the target machines have two cores) and returns their results in order. */
export async function runSteps(steps: SuiteStep[]): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const waiting = steps.entries();
  const worker = async () => {
    for (const [i, step] of waiting) results[i] = await runStep(step);
  };
  await Promise.all([worker(), worker()]);
  return results;
}

async function vitest(project: string, show: boolean, files: readonly string[] = []): Promise<StepResult> {
  const report = join(STATE, `vitest-${project}-${process.pid}.json`);
  mkdirSync(STATE, { recursive: true });
  try {
    const reporters = [show ? '--reporter=verbose' : '--reporter=dot', '--reporter=json'];
    const args = [
      'run',
      '--project',
      project,
      ...files,
      '--passWithNoTests',
      ...reporters,
      `--outputFile.json=${report}`,
    ];
    const result = await runTool('vitest/vitest.mjs', args, show);
    if (isOk(result) && /No test files found/.test(result.output))
      return { ok: true, output: '', counts: NONE };
    const counts = vitestCounts(report, result.code);
    return { ok: isOk(result) && counts.failed === 0, output: result.output, shown: show, counts };
  } finally {
    rmSync(report, { force: true });
  }
}

/** Tests the app in a real browser, and in Electron if its binary is installed. */
export const window: SuiteStep = {
  name: 'window',
  async run() {
    const report = join(STATE, `playwright-${process.pid}.json`);
    mkdirSync(STATE, { recursive: true });
    process.env['PLAYWRIGHT_JSON_OUTPUT_NAME'] = report;
    try {
      const args = ['test', '--config', 'e2e/window/playwright.config.ts', '--reporter=list,json'];
      const result = await runTool('@playwright/test/cli.js', args, true);
      const counts = playwrightCounts(report, result.code);
      const note = findBrowser() === undefined ? { note: NO_BROWSER } : {};
      const ok = isOk(result) && counts.failed === 0;
      return { ok, output: result.output, shown: true, counts, ...note };
    } finally {
      rmSync(report, { force: true });
    }
  },
};

function ctestPath(): string {
  const fetched = join(STATE, 'cmake', 'bin', 'ctest');
  return existsSync(fetched) ? fetched : 'ctest';
}

function describe({ passed, failed, skipped, flaky }: Counts): string {
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (flaky > 0) parts.push(`${flaky} flaky`);
  return parts.join(', ');
}

function plain(result: CommandResult): StepResult {
  return { ok: isOk(result), output: result.output };
}

function isOk(result: CommandResult): boolean {
  return result.code === 0;
}
