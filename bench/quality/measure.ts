/** Asks questions by every method, and scores the answers. */
import type { Model } from '../../src-main/engine/engine.ts';
import { mean, median } from '../../src-main/fusion/averages.ts';
import { klDivergence, likeliest } from '../../src-main/fusion/quality.ts';
import type { Outcome } from './asking.ts';
import { difference, interval, type Interval } from './intervals.ts';
import { FULL, label, type Method } from './methods.ts';
import { PromptMaker, type PromptOptions } from './prompt.ts';
import { holds, SCORES, type ScoreName } from './scores.ts';
import { arranged, type Arrangement, type Question, type QuestionSet } from './sets.ts';

export interface Setting extends Arrangement, PromptOptions {
  methods: readonly Method[];
}

/** What one method gives over all questions. */
export interface Row {
  method: string;
  ratio: number | null;
  /** Share of the passages' tokens that was computed. */
  computed: number;
  scores: Partial<Record<ScoreName, Interval>>;
  /** How much of the first score it loses against the full prefill, question by question. */
  loss: Interval;
  /** By kind of question: the first score, what is lost of it, and how many answers hold the fact where sets have facts. */
  kinds: Record<string, { score: Interval; loss: Interval; fact: number | null }>;
  /** Of the first token's distribution from the full prefill's, and how often both have the same likeliest token. */
  kl: Interval;
  agrees: number;
  /** Milliseconds to the logits, and the median over questions of their share of the full prefill's. */
  medianMs: number;
  ofFull: number;
}

/** What each question came to, in the order of the questions. */
interface Tally {
  method: Method;
  scores: Map<ScoreName, number[]>;
  kinds: string[];
  facts: (number | null)[];
  kl: number[];
  agrees: number[];
  ms: number[];
  ofFull: number[];
  computed: number[];
}

/** The full prefill is asked first, whatever is asked for. */
export async function measure(
  model: Model,
  set: QuestionSet,
  setting: Setting,
  onQuestion: (done: number) => void,
): Promise<Row[]> {
  const maker = new PromptMaker(model, setting);
  const tallies = setting.methods.map(tallyOf);
  try {
    for (const [index, asked] of set.questions.entries()) {
      const question = arranged(asked, index, setting);
      const prompt = await maker.prompt(question);
      const session = model.createSession(prompt.tokens + question.maxTokens);
      try {
        const asking = { model, maker, question, index, prompt, session };
        const full = await FULL.answer(asking);
        for (const tally of tallies) {
          const got = tally.method === FULL ? full : await tally.method.answer(asking);
          count(tally, set.scores, question, got, full);
        }
      } finally {
        session.dispose();
      }
      onQuestion(index + 1);
    }
  } finally {
    maker.dispose();
  }
  return tallies.map((tally) =>
    rowOf(
      tally,
      set.scores,
      tallies.find(({ method }) => method === FULL),
    ),
  );
}

function tallyOf(method: Method): Tally {
  return {
    method,
    scores: new Map(),
    kinds: [],
    facts: [],
    kl: [],
    agrees: [],
    ms: [],
    ofFull: [],
    computed: [],
  };
}

function count(
  tally: Tally,
  scores: readonly ScoreName[],
  question: Question,
  got: Outcome,
  full: Outcome,
): void {
  for (const name of scores)
    add(tally.scores, name, SCORES[name](got.text, question.references, question.ask));
  tally.kinds.push(question.kind);
  tally.facts.push(question.fact === undefined ? null : holds(got.text, [question.fact]));
  tally.kl.push(klDivergence(full.logits, got.logits));
  tally.agrees.push(likeliest(full.logits) === likeliest(got.logits) ? 1 : 0);
  tally.ms.push(got.ms);
  tally.ofFull.push(got.ms / full.ms);
  tally.computed.push(got.computed);
}

function add<K>(lists: Map<K, number[]>, key: K, value: number): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}

function rowOf(tally: Tally, scores: readonly ScoreName[], full: Tally | undefined): Row {
  const first = scores[0] ?? 'f1';
  const own = tally.scores.get(first) ?? [];
  const base = full?.scores.get(first) ?? own;
  return {
    method: label(tally.method),
    ratio: tally.method.ratio ?? null,
    computed: mean(tally.computed),
    scores: Object.fromEntries(scores.map((name) => [name, interval(tally.scores.get(name) ?? [])])),
    loss: difference(base, own),
    kinds: Object.fromEntries(
      [...new Set(tally.kinds)].map((kind) => {
        const of = <T>(values: readonly T[]): T[] => values.filter((_, i) => tally.kinds[i] === kind);
        const facts = of(tally.facts).filter((fact) => fact !== null);
        const fact = facts.length > 0 ? mean(facts) : null;
        return [kind, { score: interval(of(own)), loss: difference(of(base), of(own)), fact }];
      }),
    ),
    kl: interval(tally.kl),
    agrees: mean(tally.agrees),
    medianMs: median(tally.ms),
    ofFull: median(tally.ofFull),
  };
}
