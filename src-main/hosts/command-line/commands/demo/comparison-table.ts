import Table from 'cli-table3';
import { mean } from '../../../../fusion/averages.ts';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import { milliseconds } from '../../figures.ts';
import type { Comparison } from './comparison.ts';

/** Width of the columns other than the three with text, including borders and padding. */
const NUMBERS_WIDTH = 64;
const SMALLEST_TEXT = 12;

/** Both answers to each question side by side, within `width` columns if possible. */
export function comparisonTable(rows: readonly Comparison[], width: number): string {
  const text = Math.max(3 * SMALLEST_TEXT, width - NUMBERS_WIDTH);
  const answer = Math.max(SMALLEST_TEXT, Math.floor(text * 0.28));
  const table = new Table({
    head: [
      'question (expected answer)',
      'full prefill',
      'blended',
      'TTFT full',
      'TTFT blend',
      'ratio',
      'recomputed',
      'loaded',
    ],
    colWidths: [text - 2 * answer, answer, answer, 10, 11, 7, 14, 10],
    colAligns: ['left', 'left', 'left', 'right', 'right', 'right', 'right', 'right'],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const { question, full, blended, fullTtftMs, blendedTtftMs } of rows) {
    const { recomputedTokens, reusedTokens, bytesLoaded } = blended.prompt;
    table.push([
      `${question.question} (${question.key})`,
      oneLine(full.answer),
      oneLine(blended.answer),
      milliseconds(fullTtftMs),
      milliseconds(blendedTtftMs),
      (blendedTtftMs / fullTtftMs).toFixed(2),
      `${recomputedTokens} of ${reusedTokens}`,
      formatBytes(bytesLoaded),
    ]);
  }
  return table.toString();
}

/** Totals of the rows; times are means, in milliseconds. */
interface ComparisonSums {
  questions: number;
  same: number;
  rightFull: number;
  rightBlended: number;
  promptTokens: number;
  fullTtftMs: number;
  blendedTtftMs: number;
  ratio: number;
}

function comparisonSums(rows: readonly Comparison[]): ComparisonSums {
  const fullTtftMs = mean(rows.map((row) => row.fullTtftMs));
  const blendedTtftMs = mean(rows.map((row) => row.blendedTtftMs));
  const right = (way: 'full' | 'blended'): number =>
    rows.filter((row) => matches(row[way].answer, row.question.key)).length;
  return {
    questions: rows.length,
    same: rows.filter((row) => row.full.answer === row.blended.answer).length,
    rightFull: right('full'),
    rightBlended: right('blended'),
    promptTokens: mean(rows.map((row) => row.full.prompt.promptTokens)),
    fullTtftMs,
    blendedTtftMs,
    ratio: blendedTtftMs / fullTtftMs,
  };
}

/** A one-line summary of the table. */
export function comparisonSummary(rows: readonly Comparison[]): string {
  const sums = comparisonSums(rows);
  return (
    `Over prompts of ${sums.promptTokens.toFixed(0)} tokens on average, the first token took ${milliseconds(sums.fullTtftMs)} by full ` +
    `prefill and ${milliseconds(sums.blendedTtftMs)} by blending (${sums.ratio.toFixed(2)} ×). ${sums.same} of ${sums.questions} answers ` +
    `are the same; right are ${sums.rightFull} by full prefill, ${sums.rightBlended} by blending.`
  );
}

function matches(answer: string, expected: string): boolean {
  return answer.toLowerCase().includes(expected.toLowerCase());
}

function oneLine(answer: string): string {
  return answer.replace(/\s+/g, ' ').trim() || '(nothing)';
}
