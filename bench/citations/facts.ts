import { readFileSync } from 'node:fs';
import type { Range } from '../../src-shared/contract/common.ts';
import { OWN, OwnSchema } from '../quality/sets.ts';
import { sentencesOf } from '../../src-main/answering/citing/sentences.ts';

/** A passage as a prompt places it. */
interface BenchPassage {
  title: string;
  text: string;
}

/** A sentence of a passage. */
export interface PassageSentence extends Range {
  passage: number;
}

/** A statement of an answer, and the sentences that hold it: each says the value about the right subject. */
interface AnswerFact {
  value: string;
  /** UTF-16 offset of the value in the answer. */
  at: number;
  sentences: PassageSentence[];
}

export interface CitedAnswer {
  kind: string;
  question: string;
  answer: string;
  passages: readonly BenchPassage[];
  facts: AnswerFact[];
}

/** The held-out worlds of bench:quality, whose passages that hold an answer are known. */
export function worlds(): CitedAnswer[] {
  return OwnSchema.parse(JSON.parse(readFileSync(OWN, 'utf8'))).flatMap((world) => {
    const passages = titled(world.passages);
    return world.questions.map(({ kind, question, answers: [answer = ''], fact, needs }) => {
      const facts = factsOf({ kind, answer, fact }, passages, needs);
      return { kind, question, answer, passages, facts };
    });
  });
}

/** A passage without a heading continues the one before it. */
function titled(texts: readonly string[]): BenchPassage[] {
  let title = '';
  return texts.map((text) => {
    title = /^[#=] ([^\n]*)\n/.exec(text)?.[1] ?? title;
    return { title, text };
  });
}

/** The facts of an answer in the demo's sentences; `needs`: the passages that hold them. */
export function factsOf(
  { kind, answer, fact }: { kind: string; answer: string; fact: string },
  passages: readonly BenchPassage[],
  needs: readonly number[],
): AnswerFact[] {
  const about = (subject: string): number[] =>
    needs.filter((need) => passages[need]?.title.toLowerCase() === subject.toLowerCase());
  const made = (value: string, among: readonly number[], from = 0): AnswerFact => ({
    value,
    at: answer.indexOf(value, from),
    sentences: among.flatMap((passage) => sentencesWith(value, passage, passages)),
  });
  if (kind === 'comparison') {
    const [both = ''] = answer.split(', and the ');
    return both.split(' and ').map((half) => {
      const subject = passages.find(({ title }) => half.toLowerCase().startsWith(`${title.toLowerCase()} `));
      return made(/\d+/.exec(half)?.[0] ?? '', about(subject?.title ?? ''), answer.indexOf(half));
    });
  }
  const [, between] = /\b(?:by|to) (\p{Lu}[\p{L}]+ \p{Lu}[\p{L}]+), (?:who|but) /u.exec(answer) ?? [];
  if (between === undefined) return kind === 'unanswerable' ? [] : [made(fact, needs)];
  const second = kind === 'unanswerable' ? [] : [made(fact, about(between), answer.indexOf(', who '))];
  return [
    made(
      between,
      needs.filter((need) => !about(between).includes(need)),
    ),
    ...second,
  ];
}

function sentencesWith(value: string, passage: number, passages: readonly BenchPassage[]): PassageSentence[] {
  const text = passages[passage]?.text ?? '';
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${value}(?![\\p{L}\\p{N}])`, 'u');
  return sentencesOf(text)
    .filter(({ start, end }) => word.test(text.slice(start, end)))
    .map((range) => ({ passage, ...range }));
}
