/**
 * Other ways to choose the tokens, tried beside those that ship. Each is told what a pass with no budget measures (deviation at the
 * check layer, the question's attention), names its tokens, and has them computed as `deviation` has its own; its time is that of
 * the second pass alone, so it does not count.
 */
import type { AppendReport } from '../../src-main/engine/engine.ts';
import { usualQuestionLayers } from '../../src-main/fusion/strategies/query.ts';
import { answer, type Asking } from './asking.ts';
import { blended, CHECK_LAYER, FULL, random, type Method } from './methods.ts';
import { reused, type Prompt } from './prompt.ts';

/** Of the passages' tokens, in the order of the prompt. */
interface Known {
  places: Int32Array;
  deviation: Float32Array;
  attention: Float32Array;
  /** How far each stands behind the beginning of its passage. */
  offsets: number[];
}

type Score = (known: Known) => number[];

interface Choice {
  score: Score;
  /** The first so many tokens of each passage go before all others. */
  head?: number;
  checkLayer?: number;
  questionLayers?: (layers: number) => number[];
}

/** Each share of its own sum. */
const both: Score = ({ deviation, attention }) => {
  const [d, a] = [sharesOf(deviation), sharesOf(attention)];
  return d.map((share, i) => share + (a[i] ?? 0));
};

/** What the question would see wrong: how much it looks at a token, times how far that is off. */
const product: Score = ({ deviation, attention }) =>
  Array.from(deviation, (squared, i) => Math.sqrt(squared) * (attention[i] ?? 0));

const deviating: Score = ({ deviation }) => [...deviation];

const at23 = (layers: number): number[] => [Math.round((2 * layers) / 3)];

const CHOICES: Record<string, Choice> = {
  product: { score: product },
  'deviation, heads of 4': { score: deviating, head: 4 },
  'deviation, heads of 8': { score: deviating, head: 8 },
  'union, heads of 4': { score: both, head: 4 },
  'union, heads of 8': { score: both, head: 8 },
  'union, question at 1/4': { score: both, questionLayers: (layers) => [Math.round(layers / 4)] },
  'union, question at 1/3': { score: both, questionLayers: (layers) => [Math.round(layers / 3)] },
  'union, question at 2/3': { score: both, questionLayers: at23 },
  'union, question at 3/4': { score: both, questionLayers: (layers) => [Math.round((3 * layers) / 4)] },
  'union, question at three': {
    score: both,
    questionLayers: (layers) => [1, 2, 3].map((quarter) => Math.round((quarter * layers) / 4)),
  },
  'deviation, layer 2': { score: deviating, checkLayer: 2 },
  'deviation, layer 3': { score: deviating, checkLayer: 3 },
  'deviation, layer 4': { score: deviating, checkLayer: 4 },
  'union, layer 3, question at 2/3': { score: both, checkLayer: 3, questionLayers: at23 },
  'product, layer 1, question at 2/3': { score: product, questionLayers: at23 },
  'product, layer 3, question at 2/3': { score: product, checkLayer: 3, questionLayers: at23 },
};

export function selections(ratios: readonly number[]): Method[] {
  return [FULL, ...ratios.flatMap(at)];
}

function at(ratio: number): Method[] {
  return [
    random(ratio),
    ...['deviation', 'query', 'union'].map((name) => blended(name, name, ratio)),
    ...Object.entries(CHOICES).map(([name, choice]) => chosenBy(name, choice, ratio)),
  ];
}

function chosenBy(name: string, choice: Choice, ratio: number): Method {
  return {
    name,
    ratio,
    answer: async (asking) => {
      const { checkLayer = CHECK_LAYER } = choice;
      const known = await measured(asking, choice);
      const scores = choice.score(known);
      const { head = 0 } = choice;
      const order = [...scores.keys()].sort((a, b) => {
        const first = (i: number): number =>
          (known.offsets[i] ?? 0) < head ? (known.offsets[i] ?? 0) - head : 0;
        return first(a) - first(b) || (scores[b] ?? 0) - (scores[a] ?? 0) || a - b;
      });
      const kept = order.slice(0, Math.round(ratio * order.length)).map((i) => known.places[i] ?? 0);
      const tokens = Int32Array.from(kept).sort();
      return answer(asking, reused(asking.prompt), { kind: 'given', tokens, checkLayers: [checkLayer] });
    },
  };
}

async function measured(
  { session, prompt, model }: Asking,
  { checkLayer = CHECK_LAYER, questionLayers }: Choice,
): Promise<Known> {
  const { kvLayers } = model.info;
  session.truncate(0);
  const report: AppendReport = await session.append(reused(prompt), {
    kind: 'union',
    checkLayers: [checkLayer],
    questionLayers: questionLayers?.(kvLayers) ?? usualQuestionLayers(kvLayers),
    ratios: [0],
  });
  const [check] = report.checks;
  if (!check || !report.question) throw new Error('a prompt has passages');
  return {
    places: check.candidates,
    deviation: check.deviation,
    attention: report.question.attention,
    offsets: offsetsIn(prompt),
  };
}

function offsetsIn({ chunks }: Prompt): number[] {
  return chunks.flatMap(({ tokens }) => [...tokens.keys()]);
}

function sharesOf(values: Float32Array): number[] {
  const sum = values.reduce((a, b) => a + b, 0);
  return Array.from(values, (value) => (sum > 0 ? value / sum : 0));
}
