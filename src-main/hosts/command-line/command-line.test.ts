import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KvasirError } from '../../../src-shared/errors.ts';
import { comparisonSummary, comparisonTable } from './commands/demo/comparison-table.ts';
import { readQuestions, type Comparison } from './commands/demo/comparison.ts';
import { describeFailure } from './failure.ts';

describe('failures', () => {
  test.each([
    [
      new KvasirError('MODEL_INVALID', 'It is cut.', 'Fetch it again.'),
      ['Error: It is cut. [MODEL_INVALID]', 'Fetch it again.'],
      1,
    ],
    [new KvasirError('BAD_ARGUMENT', 'No.'), ['Error: No. [BAD_ARGUMENT]'], 2],
    [new KvasirError('ABORTED', 'Stopped.'), ['Interrupted.'], 130],
  ])('%s', (error, lines, exitCode) => {
    expect(describeFailure(error, false)).toEqual({ lines, exitCode });
  });

  test('a defect asks to be reported, and --debug shows stacks with causes', () => {
    const error = new Error('outer', { cause: new Error('inner') });
    expect(describeFailure(error, false)).toMatchObject({
      exitCode: 1,
      lines: ['Error: outer', expect.stringContaining('report')],
    });
    expect(describeFailure(error, true).lines.join('\n')).toMatch(
      /Error: outer\n +at [^]+caused by:\nError: inner/,
    );
  });
});

describe('sample questions', () => {
  function fileOf(content: string): string {
    const dir = mkdtempSync(join(tmpdir(), 'kvasir-questions-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, 'q.json'), content);
    return join(dir, 'q.json');
  }

  test('are spread evenly over the file', () => {
    const questions = Array.from({ length: 12 }, (_, i) => ({
      ...{ question: String(i), answer: '', key: '', kind: '' },
    }));
    const read = (count: number): string[] =>
      readQuestions(fileOf(JSON.stringify(questions)), count).map(({ question }) => question);
    expect(read(4)).toEqual(['0', '3', '6', '9']);
    expect(read(8)).toHaveLength(8);
    expect(read(12)).toHaveLength(12);
    expect(read(20)).toHaveLength(12);
    expect(read(1)).toEqual(['0']);
  });

  test.each(['', '{}', '[{"question": 1}]'])('%j is a typed error', (content) => {
    expect(() => readQuestions(fileOf(content), 1)).toThrow(
      expect.objectContaining({ code: 'DOCUMENT_UNREADABLE' }),
    );
  });
});

test('the table fits its width and shows both answers; the summary counts', () => {
  const answered = (answer: string): Partial<Comparison['full']> => ({
    answer,
    prompt: {
      promptTokens: 500,
      residentTokens: 0,
      prefixTokens: 0,
      restoredTokens: 0,
      reusedTokens: 480,
      recomputedTokens: 72,
      computedTokens: 20,
      bytesLoaded: 1_200_000,
    },
  });
  const row = (full: string, blended: string): Comparison => ({
    question: {
      ...{ question: 'Where does Mara work, and since when?', answer: 'Mara works in Oslo.' },
      ...{ key: 'Oslo', kind: '' },
    },
    full: answered(full) as Comparison['full'],
    blended: answered(blended) as Comparison['blended'],
    fullTtftMs: 400,
    blendedTtftMs: 100,
  });
  const rows = [row('Oslo', 'oslo.'), row('Porto', 'Porto')];
  for (const width of [100, 120, 200]) {
    const lines = comparisonTable(rows, width).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  }
  expect(comparisonTable(rows, 120)).toContain('72 of 480');
  expect(comparisonSummary(rows)).toMatch(
    /400 ms by full prefill and 100 ms by blending \(0\.25 ×\)\. 1 of 2 answers are the same; right are 1 by full prefill, 1 by blending/,
  );
});
