import { mean, median } from '../../src-main/fusion/averages.ts';
import { difference, interval, type Interval } from './intervals.ts';
import type { Method } from './method.ts';
import { BLIND, FULL, label } from './methods.ts';
import type { QuestionRecord, Measurement } from './records.ts';
import type { ScoreName } from './scores.ts';

/** Results of one method over all questions. */
export interface Row {
  method: string;
  ratio: number | null;
  /** Share of the passages' tokens that was computed. */
  computed: number;
  scores: Partial<Record<ScoreName, Interval>>;
  /** Loss of the first score against the full prefill, paired by question. */
  loss: Interval;
  /** By kind of question: the first score, its loss, and the number of answers with the fact if the set has facts. */
  kinds: Record<string, { score: Interval; loss: Interval; fact: number | null }>;
  /** KL from the full prefill: mean along its answer; at the first token; and relative to blind reuse of chunks encoded alone. */
  kl: Interval;
  klFirst: number;
  ofBlind: number | null;
  /** Share of the answer's tokens at which both have the same most likely token. */
  agrees: Interval;
  /** Milliseconds to the logits, and the median over questions of the time relative to the full prefill. */
  medianMs: number;
  ofFull: number;
}

export function rowsOf(
  asked: readonly QuestionRecord[],
  methods: readonly Method[],
  scores: readonly ScoreName[],
): Row[] {
  const blind = givenTo(asked, BLIND);
  const full = givenTo(asked, FULL);
  return methods.map((method) => {
    const given = givenTo(asked, method);
    const [first = 'f1'] = scores;
    const [own, base] = [given, full].map((all) => all.map((each) => each.scores[first] ?? NaN));
    const kl = interval(given.map((each) => mean(each.kl)));
    return {
      method: label(method),
      ratio: method.ratio ?? null,
      computed: mean(given.map((each) => each.computed)),
      scores: Object.fromEntries(
        scores.map((name) => [name, interval(given.map((each) => each.scores[name] ?? NaN))]),
      ),
      loss: difference(base ?? [], own ?? []),
      kinds: kindsOf(asked, method, first),
      kl,
      klFirst: mean(given.map((each) => each.kl[0] ?? NaN)),
      ofBlind: blind.length > 0 ? kl.mean / mean(blind.map((each) => mean(each.kl))) : null,
      agrees: interval(given.map((each) => mean(each.agrees.map(Number)))),
      medianMs: median(given.map((each) => each.ms)),
      ofFull: median(given.map((each) => each.ofFull)),
    };
  });
}

function givenTo(asked: readonly QuestionRecord[], method: Method): Measurement[] {
  return asked.flatMap(({ given }) => given[label(method)] ?? []);
}

function kindsOf(asked: readonly QuestionRecord[], method: Method, score: ScoreName): Row['kinds'] {
  const groups = Map.groupBy(asked, ({ kind }) => kind);
  return Object.fromEntries(
    [...groups].map(([kind, group]) => {
      const scoresOf = (by: Method): number[] => givenTo(group, by).map((each) => each.scores[score] ?? NaN);
      const facts = givenTo(group, method).flatMap(({ fact }) => fact ?? []);
      const own = scoresOf(method);
      const fact = facts.length > 0 ? mean(facts) : null;
      return [kind, { score: interval(own), loss: difference(scoresOf(FULL), own), fact }];
    }),
  );
}
