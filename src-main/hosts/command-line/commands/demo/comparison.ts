import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { Workspace } from '../../../../app.ts';
import type { Answered, SingleRequest } from '../../../../answering/single-answers.ts';
import { median } from '../../../../fusion/averages.ts';

const QuestionsSchema = z.array(
  z.object({
    question: z.string(),
    answer: z.string(),
    /** A string contained in every correct answer. */
    key: z.string(),
    kind: z.string(),
  }),
);

export type SampleQuestion = z.infer<typeof QuestionsSchema>[number];

/** One question answered both ways, with alternating time measurements. */
export interface Comparison {
  question: SampleQuestion;
  full: Answered;
  blended: Answered;
  /** Milliseconds from the question to the first token: the median of the runs. */
  fullTtftMs: number;
  blendedTtftMs: number;
}

interface ComparisonOptions extends Pick<SingleRequest, 'topK'> {
  blend: SingleRequest['strategy'];
}

/** The longest sentence is an answer that compares two. */
const ANSWER_TOKENS = 48;
/** Runs of each way; the first provides the answer, all provide times. */
const RUNS = 3;

/** `count` questions spread evenly over the sample's file, so that each kind keeps its share. */
export function readQuestions(path: string, count: number): SampleQuestion[] {
  let questions: SampleQuestion[];
  try {
    questions = QuestionsSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const message = `The sample questions ${path} cannot be read.`;
    throw new KvasirError('DOCUMENT_UNREADABLE', message, 'Restore the file from the repository.', {
      cause: error,
    });
  }
  const step = Math.max(1, questions.length / count);
  return questions.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step)).slice(0, count);
}

/** Answers every question by full prefill and by blending, alternating which goes first. */
export async function compareAll(
  workspace: Workspace,
  questions: readonly SampleQuestion[],
  options: ComparisonOptions,
  signal: AbortSignal,
): Promise<Comparison[]> {
  await warmUp(workspace, options, signal);
  const rows: Comparison[] = [];
  for (const [i, question] of questions.entries())
    rows.push(await compare(workspace, question, { ...options, blendFirst: i % 2 === 1 }, signal));
  return rows;
}

/** The first prefill of a process includes one-time costs; it must not count against either way. */
async function warmUp(
  { answers }: Workspace,
  { topK }: Pick<SingleRequest, 'topK'>,
  signal: AbortSignal,
): Promise<void> {
  await answers.answer(
    { topK, question: 'Where is it?', strategy: { kind: 'full' }, maxTokens: 2 },
    { signal },
  );
}

/** Answers one question by full prefill and by blending, in alternating runs on the same prompt. */
async function compare(
  { answers }: Workspace,
  question: SampleQuestion,
  { topK, blend, blendFirst }: ComparisonOptions & { blendFirst: boolean },
  signal: AbortSignal,
): Promise<Comparison> {
  const full: Answered[] = [];
  const blended: Answered[] = [];
  for (let run = 0; run < RUNS; run++) {
    const request = { question: question.question, topK, maxTokens: run === 0 ? ANSWER_TOKENS : 1 };
    const turns = [
      async () => full.push(await answers.answer({ ...request, strategy: { kind: 'full' } }, { signal })),
      async () => blended.push(await answers.answer({ ...request, strategy: blend }, { signal })),
    ];
    for (const turn of blendFirst === (run % 2 === 0) ? turns.reverse() : turns) await turn();
  }
  return {
    question,
    full: first(full),
    blended: first(blended),
    fullTtftMs: median(full.map(({ ttftMs }) => ttftMs.total)),
    blendedTtftMs: median(blended.map(({ ttftMs }) => ttftMs.total)),
  };
}

function first(answers: readonly Answered[]): Answered {
  const [answer] = answers;
  if (!answer) throw new Error('no run was made');
  return answer;
}
