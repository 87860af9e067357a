import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { App } from '../../src-main/app.ts';
import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import { readLibrary } from '../../e2e/support/library.ts';
import { factsOf, type PassageSentence } from './facts.ts';
import type { FoundSentences } from './score.ts';

const QuestionsSchema = z.array(
  z.object({
    question: z.string(),
    answer: z.string(),
    key: z.string(),
    documents: z.array(z.string()),
    kind: z.string(),
  }),
);

/** The app's right answers to the sample's questions, with the sentences that it names. */
export async function sampleAnswers(dataDir: string): Promise<FoundSentences[]> {
  const app = await App.open({ dataDir });
  try {
    const { message } = await readLibrary(app);
    const answers: FoundSentences[] = [];
    for (const asked of QuestionsSchema.parse(JSON.parse(readFileSync(app.paths.sampleQuestions, 'utf8')))) {
      const { question, kind, key, documents } = asked;
      const { text, citations, stats } = await message({ question, maxTokens: 48 });
      if (!text.includes(key) || !stats) continue;
      const passages = citations.map((cited) => ({
        title: cited.title.split(' › ')[0] ?? '',
        text: cited.text,
      }));
      const needs = citations.flatMap(({ path }, i) => (documents.includes(path) ? [i] : []));
      const facts = factsOf({ kind, answer: text, fact: key }, passages, needs);
      // What no passage says about its subject has no sentence to point to: the model got it wrong.
      const held = facts.filter(({ sentences }) => sentences.length > 0);
      answers.push({ answer: { facts: held }, found: namedBy(stats) });
    }
    return answers;
  } finally {
    await app.close();
  }
}

function namedBy({ sentences = [] }: AnswerStats): PassageSentence[] {
  return sentences.flatMap(({ sources }) =>
    sources.map(({ citation, start, end }) => ({ passage: citation, start, end })),
  );
}
