/** Questions with passages, as the bench asks them. */
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { z } from 'zod';
import { randomFrom } from '../../src-main/testing/random.ts';
import { readPublished } from './published-sets.ts';
import type { Question, QuestionSet } from './question.ts';
import type { ScoreName } from './scores.ts';

/** The form of our own sets. */
const OwnSchema = z.array(
  z.object({
    passages: z.array(z.string()),
    questions: z.array(
      z.object({
        kind: z.string(),
        question: z.string(),
        answers: z.array(z.string()),
        fact: z.string(),
        needs: z.array(z.number()),
      }),
    ),
  }),
);

/** The set included with Kvasir: held-out worlds, generated as described in resources/models/kvasir-demo.md. */
const OWN = join(import.meta.dirname, 'sets', 'worlds.json');
const OWN_TOKENS = 48;
const OWN_NOTHING = 'the passages do not say';
const OWN_SCORES: readonly ScoreName[] = ['added', 'f1', 'exact', 'rougeL'];

/** 'worlds', or a file in CacheBlend's, LongBench's or RULER's format. `prompts`: LongBench's file of prompts by data set. */
export function loadSet(nameOrPath: string, prompts?: string): QuestionSet {
  const path = nameOrPath === 'worlds' ? OWN : nameOrPath;
  const name = basename(path, extname(path));
  const text = readFileSync(path, 'utf8');
  const own = extname(path) === '.json' ? OwnSchema.safeParse(JSON.parse(text)) : undefined;
  if (!own?.success) return readPublished(name, extname(path), text, prompts);
  const questions = own.data.flatMap(({ passages, questions: asked }) => {
    const leads = titlesAbove(passages);
    return asked.map(({ kind, question, answers, fact, needs }): Question => ({
      ...{ kind, passages, leads, needs, before: '', ask: `Question: ${question}` },
      ...{ references: answers, fact, maxTokens: OWN_TOKENS, nothing: OWN_NOTHING },
    }));
  });
  return { name, scores: OWN_SCORES, questions };
}

/** Our worlds' documents begin with a title; passages without one belong to the title before them. */
function titlesAbove(passages: readonly string[]): Map<string, string> {
  const leads = new Map<string, string>();
  let title = '';
  for (const passage of passages) {
    const [, own] = /^[#=] ([^\n]*)\n\n/.exec(passage) ?? [];
    if (own !== undefined) title = `# ${own}\n\n`;
    else leads.set(passage, title);
  }
  return leads;
}

const LibrarySchema = z.array(
  z.object({ kind: z.string(), question: z.string(), answer: z.string(), key: z.string() }),
);

export interface LibraryPassages {
  /** The texts of a prompt's chunks, in order. */
  find: (question: string) => Promise<string[]>;
  leads: ReadonlyMap<string, string>;
}

/** Questions about the sample library, with the passages that `find` returns for them. */
export async function librarySet({ find, leads }: LibraryPassages): Promise<QuestionSet> {
  const path = join(import.meta.dirname, 'sets', 'library.json');
  const questions: Question[] = [];
  for (const { kind, question, answer, key } of LibrarySchema.parse(JSON.parse(readFileSync(path, 'utf8'))))
    questions.push({
      ...{ kind, passages: await find(question), leads, before: '', ask: `Question: ${question}` },
      ...{ references: [answer], fact: key, maxTokens: OWN_TOKENS, nothing: OWN_NOTHING },
    });
  return { name: 'library', scores: OWN_SCORES, questions };
}

/** Puts the last `count` questions with correct answers before every question: base models learn the task from them. */
export function withShots(set: QuestionSet, count: number): QuestionSet {
  if (count === 0) return set;
  const examples = set.questions
    .slice(-count)
    .map(({ ask, references }) => `${ask}\nAnswer: ${references[0] ?? ''}\n\n`);
  const questions = set.questions.slice(0, -count);
  return {
    ...set,
    questions: questions.map((question) => ({ ...question, ask: examples.join('') + question.ask })),
  };
}

export interface Arrangement {
  /** Number of passages: the needed ones, and others. Default: all. */
  passages?: number | undefined;
  shuffled?: boolean | undefined;
}

/** The same question with fewer passages, or in another order; the question's index is the random seed. */
export function arranged(
  question: Question,
  index: number,
  { passages: count, shuffled }: Arrangement,
): Question {
  const { passages, needs = [] } = question;
  if ((count === undefined || count >= passages.length) && shuffled !== true) return question;
  const random = randomFrom(index + 1);
  const places = passages.map((_, place) => ({ place, key: random() }));
  const others = places.filter(({ place }) => !needs.includes(place)).sort((a, b) => a.key - b.key);
  const room = Math.max(0, (count ?? passages.length) - needs.length);
  const kept = [...places.filter(({ place }) => needs.includes(place)), ...others.slice(0, room)];
  kept.sort((a, b) => (shuffled === true ? a.key - b.key : a.place - b.place));
  const at = new Map(kept.map(({ place }, i) => [place, i]));
  return {
    ...question,
    passages: kept.map(({ place }) => passages[place] ?? ''),
    needs: question.needs && needs.map((place) => at.get(place) ?? 0),
  };
}
