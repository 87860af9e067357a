import type { CitedAnswer, PassageSentence } from './facts.ts';

/** An answer, and the sentences that its citations name. */
export interface FoundSentences {
  answer: Pick<CitedAnswer, 'facts'>;
  found: readonly PassageSentence[];
}

export interface CitationScore {
  name: string;
  answers: number;
  facts: number;
  /** Share of the facts whose sentence is named; 1 where there are none. */
  recall: number;
  markers: number;
  /** Share of the named sentences that hold a fact; 1 where none is named. */
  precision: number;
}

export function scoreOf(name: string, answers: readonly FoundSentences[]): CitationScore {
  const facts = answers.flatMap(({ answer, found }) =>
    answer.facts.map(({ sentences }) => found.some((one) => isAmong(one, sentences))),
  );
  const markers = answers.flatMap(({ answer, found }) => {
    const right = answer.facts.flatMap(({ sentences }) => sentences);
    return found.map((one) => isAmong(one, right));
  });
  const share = (hits: readonly boolean[]): number =>
    hits.length === 0 ? 1 : hits.filter(Boolean).length / hits.length;
  return {
    name,
    answers: answers.length,
    facts: facts.length,
    recall: share(facts),
    markers: markers.length,
    precision: share(markers),
  };
}

function isAmong(one: PassageSentence, sentences: readonly PassageSentence[]): boolean {
  return sentences.some(({ passage, start }) => passage === one.passage && start === one.start);
}
