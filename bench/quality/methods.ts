/** The methods that make a question's prompt. */
import type { GivenTokens, Model, Segment, Strategy } from '../../src-main/engine/engine.ts';
import type { Calibration } from '../../src-shared/contract/calibration.ts';
import type { StrategyChoice } from '../../src-shared/strategy.ts';
import { UNCALIBRATED } from '../../src-main/fusion/planning/controller.ts';
import { buildStrategy, engineStrategy, type StrategyParts } from '../../src-main/fusion/strategy.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { answer, type Method } from './method.ts';
import { computed, reused, type Prompt } from './prompt.ts';
import { MAP_REDUCE, MAP_RERANK } from './several-calls.ts';

/** Makes a prompt of one call. */
type PromptBuilder = (
  prompt: Prompt,
  model: Model,
  index: number,
) => { segments: Segment[]; strategy: Strategy | GivenTokens };

function oneCall(name: string, make: PromptBuilder, ratio?: number): Method {
  return {
    ...(ratio === undefined ? { name } : { name, ratio }),
    answer: (asking) => {
      const { segments, strategy } = make(asking.prompt, asking.model, asking.index);
      return answer(asking, segments, strategy);
    },
  };
}

/** The layer after which CacheBlend selects tokens; methods compared with it use the same. */
export const CHECK_LAYER = 1;

export const FULL = oneCall('full', (prompt) => ({ segments: computed(prompt), strategy: { kind: 'full' } }));

/**
 * The full prefill with a KV cache in q8_0, which is widely used: how much a rounding that people accept changes. `rounded`: the same
 * model, loaded with that cache.
 */
export function fullIn8Bits(rounded: () => Promise<Model>): Method {
  return {
    name: 'q8_0 cache',
    answer: async (asking) => {
      const model = await rounded();
      const session = model.createSession(asking.prompt.tokens + asking.question.maxTokens);
      try {
        return await answer({ ...asking, model, session }, computed(asking.prompt), { kind: 'full' });
      } finally {
        session.dispose();
      }
    },
  };
}

/** The first passage directly follows the prefix that it was encoded with, so its KV is exact; the others are computed. */
const PREFIX = oneCall('prefix caching', (prompt) => {
  const [first, ...others] = prompt.chunks;
  const segments = computed({ ...prompt, chunks: others });
  if (first && prompt.before.length > 0) segments.splice(1, 0, { kind: 'chunk', chunk: first });
  return { segments, strategy: { kind: 'none' } };
});

export const REUSE = oneCall('full reuse', (prompt) => ({
  segments: reused(prompt),
  strategy: { kind: 'none' },
}));

/** Baseline of blending: passages encoded alone, and no token recomputed. */
export const BLIND: Method = {
  name: 'blind reuse',
  answer: async (asking) => {
    const prompt = await asking.maker.prompt(asking.question, 'none');
    return answer(asking, reused(prompt), { kind: 'none' });
  },
};

/** A strategy as users and calibrations choose it. */
function chosen(name: string, choiceOf: (info: Model['info']) => StrategyChoice): Method {
  return oneCall(name, (prompt, { info }) => {
    const choice = choiceOf(info);
    const segments = choice.name === 'full' ? computed(prompt) : reused(prompt);
    return { segments, strategy: engineStrategy(choice, info.kvLayers) };
  });
}

/** The first `count` tokens of each passage (EPIC). */
function head(count: number): Method {
  return oneCall(`first ${count} tokens`, (prompt) => ({
    segments: reused(prompt),
    strategy: { kind: 'given', tokens: placesOf(prompt, (offset) => offset < count) },
  }));
}

/** As many tokens as the other methods select, drawn at random. */
export function random(ratio: number): Method {
  const make: PromptBuilder = (prompt, _, index) => {
    const draw = randomFrom(index + 1);
    const drawn = [...placesOf(prompt, () => true)].map((place) => ({ place, key: draw() }));
    drawn.sort((a, b) => a.key - b.key);
    const kept = drawn.slice(0, Math.round(ratio * drawn.length)).map(({ place }) => place);
    const tokens = Int32Array.from(kept).sort();
    return { segments: reused(prompt), strategy: { kind: 'given', tokens } };
  };
  return oneCall('random', make, ratio);
}

export function blended(
  name: string,
  strategy: string,
  ratio: number,
  parts: (layers: number) => StrategyParts = () => ({}),
): Method {
  const make: PromptBuilder = (prompt, { info }) => ({
    segments: reused(prompt),
    strategy: buildStrategy(strategy, { ratios: [ratio], ...parts(info.kvLayers) }, info.kvLayers),
  });
  return oneCall(name, make, ratio);
}

function withRatio(ratio: number): Method[] {
  const third = (layers: number): number => Math.max(2, Math.round(layers / 3));
  return [
    random(ratio),
    blended('deviation', 'deviation', ratio),
    blended('deviation, layer 0', 'deviation', ratio, () => ({ checkLayers: [0] })),
    blended('deviation, layer 2', 'deviation', ratio, () => ({ checkLayers: [2] })),
    blended('deviation, gradual', 'deviation', ratio, (layers) => ({
      checkLayers: [CHECK_LAYER, third(layers)],
    })),
    blended('query', 'query', ratio),
  ];
}

/** Every method, those that take a ratio once for each; `calibration`: the app's own. */
export function methodsFor(ratios: readonly number[], calibration: Calibration | undefined): Method[] {
  return [
    ...[FULL, PREFIX, BLIND, REUSE, MAP_REDUCE, MAP_RERANK],
    // The app's default before a calibration.
    chosen('default', () => UNCALIBRATED),
    ...(calibration ? [chosen('auto', () => calibration.choice.strategy)] : []),
    ...[4, 16, 32].map(head),
    ...ratios.flatMap(withRatio),
  ];
}

export function label({ name, ratio }: Pick<Method, 'name' | 'ratio'>): string {
  return ratio === undefined ? name : `${name} ${Math.round(ratio * 1000) / 10} %`;
}

/** Prompt indices of passages' tokens, selected by their offset in the passage. */
function placesOf({ before, chunks }: Prompt, chosen: (offset: number) => boolean): Int32Array {
  const places: number[] = [];
  let at = before.length;
  for (const { tokens } of chunks) {
    for (let offset = 0; offset < tokens.length; offset++) if (chosen(offset)) places.push(at + offset);
    at += tokens.length;
  }
  return Int32Array.from(places);
}
