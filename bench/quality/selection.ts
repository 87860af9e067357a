/**
 * Experimental selection methods, compared with the built-in ones. Each gets the measurements of a pass without budget (deviation at layer
 * 1, the question's attention), and names its tokens. Only the pass that computes these is timed, so the times are not comparable.
 */
import type { AppendReport, Strategy } from '../../src-main/engine/engine.ts';
import { usualQuestionLayers } from '../../src-main/fusion/strategies/query.ts';
import { answer, type MethodInput, type Method } from './method.ts';
import { BLIND, blended, CHECK_LAYER, FULL, random, REUSE } from './methods.ts';
import { reused, type Prompt } from './prompt.ts';

/** Measurements of the passages' tokens, in the order of the prompt. */
interface TokenMeasurements {
  places: Int32Array;
  deviation: Float32Array;
  attention: Float32Array;
  /** Each token's offset in its passage. */
  offsets: number[];
}

type Score = (known: TokenMeasurements) => number[];

interface Choice {
  score: Score;
  /** Compute all tokens up to this layer, as in CacheBlend. */
  checkLayer?: number;
  questionLayers?: (layers: number) => number[];
}

/** Estimated error in the question's view: attention to a token times its deviation. */
const product: Score = ({ deviation, attention }) =>
  Array.from(deviation, (squared, i) => Math.sqrt(squared) * (attention[i] ?? 0));

const deviating: Score = ({ deviation }) => [...deviation];

const looked: Score = ({ attention }) => [...attention];

/** Maximum attention within four tokens (SnapKV pools likewise). */
const around: Score = ({ attention }) =>
  Array.from(attention, (_, i) => Math.max(...attention.subarray(Math.max(0, i - 4), i + 5)));

/** All tokens of the passage with the most attention, then those of the next. */
const passages: Score = ({ attention, offsets }) => {
  const begins = offsets.flatMap((offset, i) => (offset === 0 ? [i] : []));
  return begins.flatMap((begin, n) => {
    const own = attention.subarray(begin, begins[n + 1]);
    return Array.from(own, () => own.reduce((sum, value) => sum + value, 0) / own.length);
  });
};

const all = (layers: number): number[] => [...Array(layers).keys()];
const middle = (layers: number): number[] => [Math.floor(layers / 2)];

const CHOICES: Record<string, Choice> = {
  'deviation, no check': { score: deviating },
  'query, checked at 1': { score: looked, checkLayer: 1 },
  'query, one layer': { score: looked, questionLayers: middle },
  'query, all layers': { score: looked, questionLayers: all },
  'query, early half': { score: looked, questionLayers: (layers) => all(layers).slice(0, layers / 2) },
  'query, late half': { score: looked, questionLayers: (layers) => all(layers).slice(layers / 2) },
  'query, pooled': { score: around },
  'query, whole passages': { score: passages },
  product: { score: product },
};

export function selections(ratios: readonly number[]): Method[] {
  return [FULL, BLIND, REUSE, ...ratios.flatMap(at)];
}

function at(ratio: number): Method[] {
  return [
    random(ratio),
    ...['deviation', 'query'].map((name) => blended(name, name, ratio)),
    ...Object.entries(CHOICES).map(([name, choice]) => chosenBy(name, choice, ratio)),
  ];
}

function chosenBy(name: string, choice: Choice, ratio: number): Method {
  return {
    name,
    ratio,
    answer: async (asking) => {
      const { checkLayer } = choice;
      const known = await measured(asking, choice);
      const scores = choice.score(known);
      const order = [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
      const kept = order.slice(0, Math.round(ratio * order.length)).map((i) => known.places[i] ?? 0);
      const tokens = Int32Array.from(kept).sort();
      return answer(asking, reused(asking.prompt), {
        ...{ kind: 'given', tokens },
        ...(checkLayer !== undefined && { checkLayers: [checkLayer] }),
      });
    },
  };
}

async function measured(
  { session, prompt, model }: MethodInput,
  { questionLayers }: Choice,
): Promise<TokenMeasurements> {
  const layers = questionLayers ?? usualQuestionLayers;
  const report = async (strategy: Strategy): Promise<AppendReport> => {
    session.truncate(0);
    return session.append(reused(prompt), strategy);
  };
  const { question } = await report({
    kind: 'query',
    questionLayers: layers(model.info.kvLayers),
    ratios: [0],
  });
  const { checks } = await report({ kind: 'deviation', checkLayers: [CHECK_LAYER], ratios: [0] });
  const [check] = checks;
  if (!check || !question) throw new Error('the prompt has no passages');
  return {
    places: check.candidates,
    deviation: check.deviation,
    attention: question.attention,
    offsets: offsetsIn(prompt),
  };
}

function offsetsIn({ chunks }: Prompt): number[] {
  return chunks.flatMap(({ tokens }) => [...tokens.keys()]);
}
