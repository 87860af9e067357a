/** Reads question sets as published: CacheBlend's inputs/*.json, LongBench's and RULER's JSONL. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Question, QuestionSet } from './question.ts';
import type { ScoreName } from './scores.ts';

const CacheBlendSchema = z.array(
  z.object({
    ctxs: z.array(z.object({ title: z.string().optional(), text: z.string() })),
    question: z.string(),
    answers: z.array(z.string()).min(1),
  }),
);

const LongBenchSchema = z.object({
  input: z.string(),
  context: z.string(),
  answers: z.array(z.string()).min(1),
  dataset: z.string(),
});

const RulerSchema = z.object({
  input: z.string(),
  outputs: z.array(z.string()).min(1),
  answer_prefix: z.string().default(''),
});

/** Sets whose references are summaries, which suites score with ROUGE-L. */
const SUMMARIES = /samsum|multi_news|gov_report|qmsum|vcsum/;
/** LongBench asks these without a chat template, after examples, and scores the answer's first line. */
const EXAMPLES = /samsum|triviaqa|trec|lsht/;
/** RULER tasks whose references are variants of one answer; the other tasks require all references. */
const ONE_ANSWER = /^qa/;

/** Maximum answer tokens by set: LongBench's dataset2maxlen.json and RULER's constants.py. The first match applies. */
const LENGTHS: readonly [RegExp, number][] = [
  [/multi_news|gov_report|qmsum|vcsum/, 512],
  [/samsum|dureader|narrativeqa|qasper|niah/, 128],
  [/cwe/, 120],
  [/fwe|multifieldqa/, 50],
  [/./, 32],
];

/** Start of a passage in LongBench's and RULER's contexts. */
const PASSAGE = /^(?=(?:Passage|Document|Dialogue)(?: \d+)?:)/gm;

/** A TypeError names the line that matches none of these formats. */
export function readPublished(name: string, extension: string, text: string, prompts?: string): QuestionSet {
  if (extension === '.json') return { name, scores: scoresOf(name), questions: cacheBlend(name, text) };
  return jsonLines(name, text, prompts);
}

function scoresOf(name: string): ScoreName[] {
  return SUMMARIES.test(name) ? ['rougeL'] : ['f1', 'exact', 'holds'];
}

function cacheBlend(name: string, text: string): Question[] {
  const parsed = CacheBlendSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    throw new TypeError(`${name} is not a list of questions with passages (ctxs) and answers.`);
  const summary = SUMMARIES.test(name);
  return parsed.data.map(({ ctxs, question, answers }) => ({
    ...common(name),
    passages: ctxs.map(({ title, text: body }) =>
      title === undefined ? `${body}\n\n` : `${title}\n\n${body}\n\n`,
    ),
    before: summary ? '' : 'Answer the question at the end in a few words, from these passages alone.\n\n',
    ask: summary ? `\n\n${question}` : `Question: ${question}`,
    ...(summary ? {} : notesOn(question)),
    references: answers,
  }));
}

function jsonLines(name: string, text: string, promptFile?: string): QuestionSet {
  const prompts =
    promptFile === undefined
      ? {}
      : z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(promptFile, 'utf8')));
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const values = lines.map((line) => JSON.parse(line) as unknown);
  const ruler = RulerSchema.safeParse(values[0]).success;
  const questions = values.map((value, i): Question => {
    const parsed = (ruler ? RulerSchema : LongBenchSchema).safeParse(value);
    if (!parsed.success)
      throw new TypeError(`Line ${i + 1} of ${name} matches neither LongBench's nor RULER's format.`);
    return 'outputs' in parsed.data
      ? rulerQuestion(name, parsed.data)
      : longBench(parsed.data, prompts[parsed.data.dataset]);
  });
  const scores: ScoreName[] = ONE_ANSWER.test(name) ? ['holds'] : ['holdsAll'];
  return { name, scores: ruler ? scores : scoresOf(questions[0]?.kind ?? name), questions };
}

/** The question put to a single passage. */
function notesOn(question: string): Pick<Question, 'note' | 'nothing'> {
  const note = `Write in one sentence what the text above says that helps to answer this question, or write only: nothing.\nQuestion: ${question}`;
  return { note, nothing: 'nothing' };
}

/** `prompt`: contains {context} and {input}, as in LongBench's own list. */
function longBench(
  { input, context, answers, dataset }: z.infer<typeof LongBenchSchema>,
  prompt?: string,
): Question {
  const form =
    prompt ??
    'Answer the question at the end in a few words, from these passages alone.\n\n{context}Question: {input}';
  const [before = '', behind = ''] = form.split('{context}');
  return {
    ...common(dataset),
    bare: EXAMPLES.test(dataset),
    passages: context.split(PASSAGE).filter((passage) => passage !== ''),
    before,
    ask: behind.replace('{input}', () => input),
    ...(SUMMARIES.test(dataset) ? {} : notesOn(input)),
    references: answers,
  };
}

/**
 * A RULER context is one text. Documents are split at their marks, and the last one ends at a blank line; without marks, the first and last
 * lines are the instructions and the question.
 */
function rulerQuestion(
  name: string,
  { input, outputs, answer_prefix }: z.infer<typeof RulerSchema>,
): Question {
  const marks = [...input.matchAll(PASSAGE)].map(({ index }) => index);
  const [first, last] = [marks[0], marks.at(-1)];
  const lines = { begin: input.indexOf('\n') + 1, end: input.lastIndexOf('\n') + 1 };
  const begin = first ?? lines.begin;
  const blank = last === undefined ? -1 : input.indexOf('\n\n', last);
  const end = blank < 0 ? Math.max(begin, lines.end) : blank + 2;
  return {
    ...common(name),
    passages: input
      .slice(begin, end)
      .split(PASSAGE)
      .filter((passage) => passage !== ''),
    before: input.slice(0, begin),
    ask: input.slice(end) + answer_prefix,
    references: outputs,
  };
}

function common(name: string): Pick<Question, 'kind' | 'maxTokens' | 'firstLine'> {
  const [, maxTokens = 32] = LENGTHS.find(([sets]) => sets.test(name)) ?? [];
  return { kind: name, maxTokens, firstLine: EXAMPLES.test(name) };
}
