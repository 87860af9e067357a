/** Question sets as they are published: CacheBlend's inputs/*.json, LongBench's and RULER's JSONL. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Question, QuestionSet } from './sets.ts';
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

const RulerSchema = z.object({ input: z.string(), outputs: z.array(z.string()).min(1) });

/** Sets whose references are summaries, which suites score by ROUGE-L and let run longer. */
const SUMMARIES = /samsum|multi_news|gov_report|qmsum|vcsum/;
const ANSWER_TOKENS = 32;
const SUMMARY_TOKENS = 256;

/** Where a passage begins in LongBench's and RULER's contexts. */
const PASSAGE = /^(?=(?:Passage|Document|Dialogue)(?: \d+)?:)/m;

/** TypeError names the line that is in none of these forms. */
export function readPublished(name: string, extension: string, text: string, prompts?: string): QuestionSet {
  const questions = extension === '.json' ? cacheBlend(name, text) : jsonLines(name, text, prompts);
  const scores: ScoreName[] = SUMMARIES.test(name) ? ['rougeL'] : ['f1', 'exact', 'holds'];
  return { name, scores, questions };
}

function cacheBlend(name: string, text: string): Question[] {
  const parsed = CacheBlendSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    throw new TypeError(`${name} is no list of questions with passages (ctxs) and answers.`);
  const summary = SUMMARIES.test(name);
  return parsed.data.map(({ ctxs, question, answers }) => ({
    ...common(name),
    passages: ctxs.map(({ title, text: body }) =>
      title === undefined ? `${body}\n\n` : `${title}\n\n${body}\n\n`,
    ),
    before: summary ? '' : 'Answer the question at the end in a few words, from these passages alone.\n\n',
    ask: summary ? `\n\n${question}` : `Question: ${question}`,
    references: answers,
  }));
}

function jsonLines(name: string, text: string, promptFile?: string): Question[] {
  const prompts =
    promptFile === undefined
      ? {}
      : z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(promptFile, 'utf8')));
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, i) => {
    const value: unknown = JSON.parse(line);
    const long = LongBenchSchema.safeParse(value);
    if (long.success) return longBench(long.data, prompts[long.data.dataset]);
    const ruler = RulerSchema.safeParse(value);
    if (ruler.success) return rulerQuestion(name, ruler.data);
    throw new TypeError(`Line ${i + 1} of ${name} has the form neither of LongBench nor of RULER.`);
  });
}

/** `prompt`: with {context} and {input}, as LongBench's own list has it. */
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
    passages: context.split(PASSAGE).filter((passage) => passage !== ''),
    before,
    ask: behind.replace('{input}', () => input),
    references: answers,
  };
}

/** All in one text: what stands before the first passage, and behind the last blank line, is no passage. */
function rulerQuestion(name: string, { input, outputs }: z.infer<typeof RulerSchema>): Question {
  const first = input.search(PASSAGE);
  const end = input.lastIndexOf('\n\n') + 2;
  const [from, to] = [Math.max(0, first), end > first ? end : input.length];
  return {
    ...common(name),
    passages: input
      .slice(from, to)
      .split(PASSAGE)
      .filter((passage) => passage !== ''),
    before: input.slice(0, from),
    ask: input.slice(to),
    references: outputs,
  };
}

function common(name: string): { kind: string; maxTokens: number } {
  return { kind: name, maxTokens: SUMMARIES.test(name) ? SUMMARY_TOKENS : ANSWER_TOKENS };
}
