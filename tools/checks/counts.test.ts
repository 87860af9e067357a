import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { add, ctestCounts, playwrightCounts, summaryLine, vitestCounts } from './counts.ts';

describe('counting a Vitest report', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kvasir-counts-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function counts(report: unknown, exitCode: number) {
    const path = join(folder, 'report.json');
    writeFileSync(path, typeof report === 'string' ? report : JSON.stringify(report));
    return vitestCounts(path, exitCode);
  }

  const file = (status: string, ...tests: string[]) => ({
    status,
    assertionResults: tests.map((each) => ({ status: each })),
  });

  it('sums the files and counts skipped tests separately', () => {
    const testResults = [file('passed', 'passed', 'pending'), file('failed', 'passed', 'failed', 'todo')];
    expect(counts({ success: false, testResults }, 1)).toEqual({
      passed: 2,
      failed: 1,
      skipped: 2,
      flaky: 0,
    });
  });

  it('counts a file that could not be loaded as a failure', () => {
    const testResults = [file('passed', 'passed'), file('failed')];
    expect(counts({ success: false, testResults }, 1)).toEqual({
      passed: 1,
      failed: 1,
      skipped: 0,
      flaky: 0,
    });
  });

  it('counts a failure outside any test', () => {
    expect(counts({ success: true, testResults: [file('passed', 'passed')] }, 1).failed).toBe(1);
    expect(counts({ success: false, testResults: [file('passed', 'passed')] }, 0).failed).toBe(1);
  });

  it('counts a run without a readable report as a failure', () => {
    expect(counts('{"success": tr', 0).failed).toBe(1);
    expect(vitestCounts(join(folder, 'absent.json'), 0).failed).toBe(1);
  });
});

describe('counting a CTest run', () => {
  it('takes the counts that the test program printed', () => {
    const output = '1: 41 passed, 2 failed\n0% tests passed, 1 tests failed out of 1\n';
    expect(ctestCounts(output, 8)).toEqual({ passed: 41, failed: 2, skipped: 0, flaky: 0 });
  });

  it('counts CTest entries when the programs print no counts', () => {
    expect(ctestCounts('67% tests passed, 1 tests failed out of 3', 8)).toEqual({
      passed: 2,
      failed: 1,
      skipped: 0,
      flaky: 0,
    });
    expect(ctestCounts('100% tests passed, 0 tests failed out of 3', 0)).toEqual({
      passed: 3,
      failed: 0,
      skipped: 0,
      flaky: 0,
    });
  });

  it('counts a crash after a clean summary as a failure', () => {
    const output = '1: 41 passed, 0 failed\n0% tests passed, 1 tests failed out of 1\n';
    expect(ctestCounts(output, 8)).toEqual({ passed: 41, failed: 1, skipped: 0, flaky: 0 });
    expect(ctestCounts('', 1).failed).toBe(1);
  });
});

it('adds counts up and formats the summary line', () => {
  const sum = add(
    { passed: 2, failed: 0, skipped: 1, flaky: 1 },
    { passed: 3, failed: 1, skipped: 0, flaky: 0 },
  );
  expect(sum).toEqual({ passed: 5, failed: 1, skipped: 1, flaky: 1 });
  expect(summaryLine(sum)).toBe('5 passed, 1 failed');
});

describe('counting a Playwright report', () => {
  function counts(report: unknown, exitCode: number) {
    const folder = mkdtempSync(join(tmpdir(), 'kvasir-counts-'));
    const path = join(folder, 'report.json');
    if (report !== undefined) writeFileSync(path, JSON.stringify(report));
    const result = playwrightCounts(path, exitCode);
    rmSync(folder, { recursive: true });
    return result;
  }

  it('lists the passed tests that needed a retry', () => {
    const stats = { expected: 5, unexpected: 1, flaky: 1, skipped: 2 };
    expect(counts({ stats }, 1)).toEqual({ passed: 6, failed: 1, skipped: 2, flaky: 1 });
  });

  it('counts a failure outside any test, and a run that left no report', () => {
    expect(counts({ stats: { expected: 5, unexpected: 0, flaky: 0, skipped: 0 } }, 1).failed).toBe(1);
    expect(counts(undefined, 0).failed).toBe(1);
  });
});
