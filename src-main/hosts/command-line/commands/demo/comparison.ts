import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { StrategyRequest } from '../../../../../src-shared/strategy.ts';
import { median } from '../../../../fusion/averages.ts';
import { ask, type ClientAnswer } from '../../../client/ask.ts';
import type { CoreClient } from '../../../client/client.ts';

const QuestionsSchema = z.array(
  z.object({
    question: z.string(),
    answer: z.string(),
    /** A string contained in every correct answer. */
    key: z.string(),
    kind: z.string(),
  }),
);

type SampleQuestion = z.infer<typeof QuestionsSchema>[number];

/** One question answered both ways, with alternating time measurements. */
export interface Comparison {
  question: SampleQuestion;
  full: ClientAnswer;
  blended: ClientAnswer;
  /** Milliseconds from the question to the first token: the median of the runs. */
  fullTtftMs: number;
  blendedTtftMs: number;
}

interface ComparedLibrary {
  client: CoreClient;
  libraryId: string;
  signal?: AbortSignal;
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
  library: ComparedLibrary,
  questions: readonly SampleQuestion[],
): Promise<Comparison[]> {
  // The first prefill of a process includes one-time costs; it must not count against either way.
  await answer(library, 'Where is it?', 'full', 2);
  const rows: Comparison[] = [];
  for (const [i, question] of questions.entries()) rows.push(await compare(library, question, i % 2 === 1));
  return rows;
}

/** Answers one question by full prefill and by blending, in alternating runs on the same prompt. */
async function compare(
  library: ComparedLibrary,
  question: SampleQuestion,
  blendFirst: boolean,
): Promise<Comparison> {
  const full: ClientAnswer[] = [];
  const blended: ClientAnswer[] = [];
  for (let run = 0; run < RUNS; run++) {
    const maxTokens = run === 0 ? ANSWER_TOKENS : 1;
    const turns = [
      async () => full.push(await answer(library, question.question, 'full', maxTokens)),
      async () => blended.push(await answer(library, question.question, 'auto', maxTokens)),
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

function answer(
  { client, libraryId, signal }: ComparedLibrary,
  question: string,
  name: StrategyRequest['name'],
  maxTokens: number,
): Promise<ClientAnswer> {
  const scope = { libraryIds: [libraryId] };
  return ask(client, { question, scope, strategy: { name }, maxTokens, seed: 0, signal });
}

function first(answers: readonly ClientAnswer[]): ClientAnswer {
  const [answer] = answers;
  if (!answer) throw new Error('no run was made');
  return answer;
}
