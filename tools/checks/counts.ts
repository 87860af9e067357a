import { readFileSync } from 'node:fs';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Passed tests that failed on the first try. Their runner's output names them. */
  flaky: number;
}

export const NONE: Counts = { passed: 0, failed: 0, skipped: 0, flaky: 0 };

export function add(...counts: Counts[]): Counts {
  return counts.reduce(
    (sum, each) => ({
      passed: sum.passed + each.passed,
      failed: sum.failed + each.failed,
      skipped: sum.skipped + each.skipped,
      flaky: sum.flaky + each.flaky,
    }),
    NONE,
  );
}

/** The last line of every test run. */
export function summaryLine(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed`;
}

interface VitestReport {
  success: boolean;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/**
 * Counts a Vitest JSON report. A file that failed to load has no tests in the report and counts as one failure. A run that failed for any
 * other reason (an unhandled rejection, a crash that left no report) also counts as one, so that no failure is lost.
 */
export function vitestCounts(reportPath: string, exitCode: number): Counts {
  const report = readReport(reportPath) as VitestReport | undefined;
  if (report === undefined) return { ...NONE, failed: 1 };
  const counts = { ...NONE };
  for (const file of report.testResults) {
    const failedBefore = counts.failed;
    for (const { status } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1;
      else if (status === 'failed') counts.failed += 1;
      else counts.skipped += 1;
    }
    if (file.status === 'failed' && counts.failed === failedBefore) counts.failed += 1;
  }
  if ((exitCode !== 0 || !report.success) && counts.failed === 0) counts.failed = 1;
  return counts;
}

/**
 * Counts a CTest run from its output. One CTest entry is a whole program; if the program prints "N passed, N failed" at its end, these
 * counts replace "one".
 */
export function ctestCounts(output: string, exitCode: number): Counts {
  const own = [...output.matchAll(/^(?:\d+: )?(\d+) passed, (\d+) failed/gm)].map(
    ([, passed, failed]): Counts => ({ ...NONE, passed: Number(passed), failed: Number(failed) }),
  );
  const entries = /(\d+) tests? failed out of (\d+)/.exec(output);
  const failedEntries = Number(entries?.[1] ?? 0);
  const passedEntries = Number(entries?.[2] ?? 0) - failedEntries;
  const counts = own.length > 0 ? add(...own) : { ...NONE, passed: passedEntries, failed: failedEntries };
  // A program that crashed printed no summary line.
  if ((exitCode !== 0 || failedEntries > 0) && counts.failed === 0)
    counts.failed = Math.max(1, failedEntries);
  return counts;
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
}

/** Counts a Playwright JSON report. A run with an error outside any test counts as failed. */
export function playwrightCounts(reportPath: string, exitCode: number): Counts {
  const stats = (readReport(reportPath) as PlaywrightReport | undefined)?.stats;
  if (stats === undefined) return { ...NONE, failed: 1 };
  const { expected, unexpected, flaky, skipped } = stats;
  return {
    passed: expected + flaky,
    failed: unexpected === 0 && exitCode !== 0 ? 1 : unexpected,
    skipped,
    flaky,
  };
}

function readReport(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
