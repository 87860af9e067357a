import type { Analysis, Step, StepSource } from '../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { oneLine } from '../../src-shared/source-list.ts';
import { statsLine } from '../answering/stats-line.ts';
import { csvLine } from '../platform/csv.ts';
import { fileName, quoted } from '../platform/markdown.ts';

export type ExportFormat = 'markdown' | 'json' | 'csv';

export interface ExportFile {
  fileName: string;
  mediaType: string;
  content: string;
}

/** BAD_ARGUMENT for the analysis of a document as CSV. */
export function exportAnalysis(analysis: Analysis, format: ExportFormat): ExportFile {
  const name = fileName(analysis.title, 'analysis');
  if (format === 'json') {
    const content = `${JSON.stringify({ kvasirAnalysis: 1, ...analysis }, null, 2)}\n`;
    return { fileName: `${name}.json`, mediaType: 'application/json', content };
  }
  if (format === 'markdown')
    return { fileName: `${name}.md`, mediaType: 'text/markdown', content: toMarkdown(analysis) };
  if (analysis.kind !== 'questions')
    throw new KvasirError(
      'BAD_ARGUMENT',
      'Only answers to several questions can be written as a table.',
      'Choose Markdown or JSON.',
    );
  return { fileName: `${name}.csv`, mediaType: 'text/csv', content: toCsv(analysis.steps) };
}

/** The step whose answer covers the whole document: the last combining one, or the only window; undefined before it is done. */
export function resultOf({ steps }: Pick<Analysis, 'steps'>): Step | undefined {
  const windows = steps.filter(({ kind }) => kind === 'window');
  const combined = steps.findLast(({ kind }) => kind === 'combine');
  const last = windows.length > 1 ? combined : windows[0];
  const everythingDone = steps.every(({ state }) => state === 'done');
  return last && everythingDone ? last : undefined;
}

function toMarkdown(analysis: Analysis): string {
  const date = new Date(analysis.createdMs).toISOString().slice(0, 10);
  const blocks = analysis.kind === 'questions' ? questionBlocks(analysis) : documentBlocks(analysis);
  const about = [date, analysis.model, ...(analysis.state === 'done' ? [] : [analysis.state])].filter(
    Boolean,
  );
  const title =
    analysis.kind === 'questions' ? `${analysis.steps.length} questions` : oneLine(analysis.title);
  return `${[`# ${title}`, about.join(' · '), ...blocks].join('\n\n')}\n`;
}

function questionBlocks({ steps }: Analysis): string[] {
  return steps.flatMap((step) => [`## ${oneLine(step.question)}`, ...answerBlocks(step)]);
}

function documentBlocks(analysis: Analysis): string[] {
  const { steps, instruction } = analysis;
  const result = resultOf(analysis);
  const windows = steps.filter(({ kind }) => kind === 'window');
  const blocks = [quoted(instruction)];
  if (result) blocks.push('## Result', ...answerBlocks(result));
  if (windows.length > 1 || !result)
    for (const [i, step] of windows.entries())
      blocks.push(`## Window ${i + 1}: parts ${step.from + 1}–${step.to}`, ...answerBlocks(step));
  return blocks;
}

function answerBlocks({ text, state, failure, notices, sources, stats }: Step): string[] {
  const blocks = text === '' ? [] : [text];
  if (failure) blocks.push(`*Failed: ${failure.message}*`);
  else if (state !== 'done') blocks.push('*Not answered.*');
  blocks.push(...notices.map(({ message }) => `> ${message}`));
  if (sources.length > 0) blocks.push(['Sources:', '', ...sources.map(sourceLine)].join('\n'));
  if (stats) blocks.push(`*${statsLine(stats)}*`);
  return blocks;
}

function sourceLine(source: StepSource, index: number): string {
  return `${index + 1}. ${sourceName(source)}${source.quote === '' ? '' : `: “${source.quote}”`}`;
}

function sourceName({ path, title, page, ordinal }: StepSource): string {
  return `${oneLine(title)} (${path}, ${page === null ? `part ${ordinal + 1}` : `page ${page}`})`;
}

function toCsv(steps: readonly Step[]): string {
  const rows = steps.map(({ question, text, failure, sources, stats }) => [
    ...[question, text, sources.map(sourceName).join('; '), failure?.message ?? ''],
    ...[stats?.ttftMs.total.toFixed(1), stats?.promptTokens, stats?.reusedTokens, stats?.residentTokens],
  ]);
  const head = [
    'question',
    'answer',
    'sources',
    'failure',
    'ttft_ms',
    'prompt_tokens',
    'reused_tokens',
    'resident_tokens',
  ];
  return [head, ...rows].map(csvLine).join('');
}
