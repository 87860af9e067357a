import type { AnalysisPlan, DocumentAnalysis, Step } from '../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { findPassages, type FoundPassage } from '../answering/passages.ts';
import { conversation } from '../answering/ask.ts';
import type { NamedModel } from '../answering/named-model.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import { keyFor, type ChunkCache } from '../fusion/model.ts';
import type { StepResult } from './analysis-table.ts';
import type { AnswerChoices } from '../answering/choices.ts';
import type { AnalysedDocument } from './library-documents.ts';
import { combiningQuestion, fitNotes, noteText, type Note } from './prompts.ts';
import { planCombining, planWindows, shapeOf, type Span } from './windows.ts';
import type { AnalysisRun } from './analysis-run.ts';
import { inLanes } from './lanes.ts';
import type { RunningStep } from './running-analysis.ts';

/** The windows of a document. QUESTION_TOO_LONG, CONTEXT_OVERFLOW, DOCUMENT_NO_TEXT. */
export function windowsOf(
  document: AnalysedDocument,
  { instruction, size, overlap }: Pick<DocumentAnalysis, 'instruction' | 'size' | 'overlap'>,
  model: NamedModel['model'],
  choices: AnswerChoices,
): Span[] {
  if (document.lengths.length === 0) throw noText(document);
  const room = roomBeside(instruction, model, choices);
  return planWindows(document.lengths, { room, size, overlap });
}

/** What an analysis of the document would do. Errors as windowsOf(). */
export function planOf(
  document: AnalysedDocument,
  request: DocumentAnalysis,
  { model, choices, store }: { model: NamedModel['model']; choices: AnswerChoices; store: ChunkCache },
): AnalysisPlan {
  const windows = windowsOf(document, request, model, choices);
  const sum = (lengths: readonly number[]): number => lengths.reduce((total, length) => total + length, 0);
  const { lengths } = document;
  const stored = lengths.filter((_, i) => store.has(keyFor(model, choices.dtype, document.chunk(i))));
  return {
    chunks: lengths.length,
    tokens: sum(lengths),
    windows: windows.length,
    ...shapeOf(windows),
    contextTokens: choices.contextTokens,
    storedChunks: stored.length,
    blends: choices.blends,
  };
}

/**
 * Analyses a document: one answer per window, then one from all of them, in several rounds where they do not fit one prompt. Finished steps
 * are not run again. The first failure ends it. CONFLICT when the document has changed.
 */
export async function runDocument(run: AnalysisRun, request: DocumentAnalysis): Promise<void> {
  const { active, row } = run;
  const { documents } = run.options;
  const document = documents.open(request.documentId, active);
  if (document.version !== row.version) throw changed(document.title);
  const windows = run.steps('window');
  const combining = windows.length > 1 ? 1 : 0;
  const open = windows.filter(({ state }) => state !== 'done');
  await inLanes(open, active.model, (step, lane, left) =>
    run.take(step, left + combining, (signal, live) =>
      run.ask(request.instruction, passagesOf(document, step, run), { signal, live, lane, begun: step.text }),
    ),
  );
  await combine(run, request.instruction);
}

function passagesOf(
  document: AnalysedDocument,
  { from, to }: Span,
  { options }: AnalysisRun,
): FoundPassage[] {
  const found = document.chunkIds.slice(from, to).map((chunkId, i) => ({
    chunkId,
    documentId: Number(document.id),
    ordinal: from + i,
    score: 0,
    reason: 'match' as const,
    fullText: null,
    vector: null,
    highlights: [],
  }));
  const passages = findPassages(found, options.passages);
  if (passages.length < to - from) throw changed(document.title);
  return passages;
}

/** Combines the windows' answers into one, in rounds. */
async function combine(run: AnalysisRun, instruction: string): Promise<void> {
  const { model } = run.active;
  const { table } = run.options;
  const all = (): Step[] => table.steps(run.row.id);
  let round = run.steps('window');
  let first = 0; // position of the round's first step among all steps
  while (round.length > 1) {
    const room = roomBeside(combiningQuestion(instruction, []), model, run.choices);
    const notes = round.map(({ text, stats }, i): Note => ({ number: i + 1, text, cut: wasCut(stats) }));
    const lengths = notes.map((note) => model.tokenize(noteText(note, instruction)).length);
    const groups = planCombining(lengths, room);
    const next: Step[] = [];
    for (const [i, { from, to }] of groups.entries()) {
      const span = { from: first + from, to: first + to };
      const step = stepFor(run, span);
      if (step.state !== 'done') {
        await run.take(step, groups.length - i, (signal, live) =>
          combineNotes(run, instruction, notes.slice(from, to), { signal, live, begun: step.text }),
        );
      }
      next.push(all().find(({ id }) => id === step.id) ?? step);
    }
    first = all().findIndex(({ id }) => id === next[0]?.id);
    round = next;
  }
}

/** The combining step that reads these steps; created if there is none. */
function stepFor({ options: { table }, row }: AnalysisRun, { from, to }: Span): Step {
  const find = (): Step | undefined =>
    table.steps(row.id).find((step) => step.kind === 'combine' && step.from === from && step.to === to);
  const known = find();
  if (known) return known;
  table.addStep(row.id, { kind: 'combine', from, to, question: '' });
  const added = find();
  if (!added) throw new Error('a step is missing right after it was added');
  return added;
}

async function combineNotes(
  run: AnalysisRun,
  instruction: string,
  all: readonly Note[],
  taken: { signal: AbortSignal; live: RunningStep; begun: string },
): Promise<StepResult> {
  const { active, choices } = run;
  const { model } = active;
  const { notes, cut } = fitNotes(
    all,
    (some) => roomBeside(combiningQuestion(instruction, some), model, choices) >= 0,
  );
  const made = await run.ask(combiningQuestion(instruction, notes), [], { ...taken, mayGuess: true });
  const notices = made.notices.filter(({ kind }) => kind !== 'no-match'); // it is not meant to rest on passages
  const unfinished = all.filter((note) => note.cut).map(({ number }) => number);
  if (unfinished.length > 0) {
    const [parts, were, their] =
      unfinished.length === 1 ? ['Part', 'was', 'its'] : ['Parts', 'were', 'their'];
    const message = `${parts} ${unfinished.join(', ')} ${were} cut off before ${their} end, so something may be missing here.`;
    notices.push({ kind: 'cut-parts', message });
  }
  if (cut > 0) {
    const message = `The context of ${choices.contextTokens} tokens cannot hold all partial answers: the ends of ${cut} of them were left out.`;
    notices.push({ kind: 'left-out', message });
  }
  return { ...made, notices };
}

/** Whether an answer was cut off. */
function wasCut(stats: Step['stats']): boolean {
  return stats?.stop === 'length' || stats?.stop === 'context' || stats?.stop === 'repetition';
}

/** Tokens left for chunks in a prompt with this question; negative when the question alone does not fit. */
function roomBeside(question: string, model: NamedModel['model'], choices: AnswerChoices): number {
  const { contextTokens } = choices;
  const request = conversation(question, [], choices);
  const { tokens } = backendOf(model).layOut({ ...request, contextTokens: Number.MAX_SAFE_INTEGER });
  return contextTokens - request.reserve - tokens;
}

function changed(title: string): KvasirError {
  const message = `“${title}” has been re-chunked since this analysis started: the document, model or chunk size changed.`;
  return new KvasirError('CONFLICT', message, 'Start the analysis again.');
}

function noText({ title }: AnalysedDocument): KvasirError {
  return new KvasirError(
    'DOCUMENT_NO_TEXT',
    `“${title}” has no text to analyse.`,
    'Choose another document.',
  );
}
