/**
 * Prints bench/README's demonstration table as Markdown: the sample questions, each answered by full prefill and by blending with the app's
 * defaults, in alternating runs on the same prompt.
 *
 *   npm run bench:demo -- [--out FILE.json]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { App } from '../src-main/app.ts';
import {
  comparisonSummary,
  comparisonSums,
} from '../src-main/hosts/command-line/commands/demo/comparison-table.ts';
import {
  compareAll,
  readQuestions,
  type Comparison,
} from '../src-main/hosts/command-line/commands/demo/comparison.ts';
import { formatBytes } from '../src-main/platform/format-bytes.ts';
import { readLibrary } from '../e2e/support/library.ts';
import { writeResult } from './lib/result.ts';

const { values: args } = parseArgs({ options: { out: { type: 'string' } } });

function markdown(rows: readonly Comparison[]): string {
  const lines = rows.map(({ question, full, blended, fullTtftMs, blendedTtftMs }) => {
    const { recomputedTokens, reusedTokens, bytesLoaded } = blended.prompt;
    const cells = [
      `${question.question} (${question.key})`,
      full.answer.trim(),
      blended.answer.trim(),
      `${fullTtftMs.toFixed(0)} ms`,
      `${blendedTtftMs.toFixed(0)} ms`,
      (blendedTtftMs / fullTtftMs).toFixed(2),
      `${recomputedTokens} of ${reusedTokens}`,
      formatBytes(bytesLoaded),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = [
    '| question (expected in the answer) | full prefill | blended | TTFT full | TTFT blend | ratio | recomputed | loaded |',
    '| --- | --- | --- | --: | --: | --: | --: | --: |',
  ];
  return [...head, ...lines].join('\n');
}

const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
const app = await App.open({ dataDir: dir });
try {
  const { client, libraryId, model } = await readLibrary(app);
  const questions = readQuestions(app.paths.sampleQuestions, Infinity);
  const rows = await compareAll({ client, libraryId }, questions);
  console.log(`${markdown(rows)}\n\n${comparisonSummary(rows)}\n`);
  writeResult('demo', args.out, {
    model: model.info.name,
    ...comparisonSums(rows),
    rows: rows.map(({ question, full, blended, fullTtftMs, blendedTtftMs }) => ({
      question: question.question,
      key: question.key,
      kind: question.kind,
      full: full.answer.trim(),
      blended: blended.answer.trim(),
      fullTtftMs,
      blendedTtftMs,
      promptTokens: full.prompt.promptTokens,
      recomputedTokens: blended.prompt.recomputedTokens,
      reusedTokens: blended.prompt.reusedTokens,
      bytesLoaded: blended.prompt.bytesLoaded,
    })),
  });
} finally {
  await app.close();
  rmSync(dir, { recursive: true, force: true });
}
