/** The ways in which a question's prompt is made. */
import type { GivenTokens, Model, Segment, Strategy } from '../../src-main/engine/engine.ts';
import { UNCALIBRATED } from '../../src-main/fusion/planning/controller.ts';
import { buildStrategy, engineStrategy, type StrategyParts } from '../../src-main/fusion/strategy.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { computed, reused, type Prompt } from './prompt.ts';

export interface Method {
  name: string;
  /** Share of the reusable tokens that is computed anew, where the method is told one. */
  ratio?: number;
  /** `index` of the question: what is drawn is drawn from it. */
  make: (
    prompt: Prompt,
    model: Model,
    index: number,
  ) => { segments: Segment[]; strategy: Strategy | GivenTokens };
}

/** Behind which layer CacheBlend chooses, and what comparisons with it keep alike. */
const CHECK_LAYER = 1;

export const FULL: Method = {
  name: 'full',
  make: (prompt) => ({ segments: computed(prompt), strategy: { kind: 'full' } }),
};

/** The first passage stands right behind the prefix that it was encoded with, so its KV is exact; the others are computed. */
const PREFIX: Method = {
  name: 'prefix caching',
  make: (prompt) => {
    const [first, ...others] = prompt.chunks;
    const segments = computed({ ...prompt, chunks: others });
    if (first && prompt.before.length > 0) segments.splice(1, 0, { kind: 'chunk', chunk: first });
    return { segments, strategy: { kind: 'none' } };
  },
};

const REUSE: Method = {
  name: 'full reuse',
  make: (prompt) => ({ segments: reused(prompt), strategy: { kind: 'none' } }),
};

/** What ships, before a calibration. */
const DEFAULT: Method = {
  name: 'default',
  make: (prompt, { info }) => ({
    segments: reused(prompt),
    strategy: engineStrategy(UNCALIBRATED, info.kvLayers),
  }),
};

/** The first so many tokens of each passage (EPIC). */
function head(count: number): Method {
  return {
    name: `first ${count} tokens`,
    make: (prompt) => ({
      segments: reused(prompt),
      strategy: { kind: 'given', tokens: placesOf(prompt, (offset) => offset < count) },
    }),
  };
}

/** As many tokens as the others choose, at the same layer, but any. */
function random(ratio: number): Method {
  return {
    name: 'random',
    ratio,
    make: (prompt, _, index) => {
      const draw = randomFrom(index + 1);
      const drawn = [...placesOf(prompt, () => true)].map((place) => ({ place, key: draw() }));
      drawn.sort((a, b) => a.key - b.key);
      const kept = drawn.slice(0, Math.round(ratio * drawn.length)).map(({ place }) => place);
      const tokens = Int32Array.from(kept).sort();
      return { segments: reused(prompt), strategy: { kind: 'given', tokens, checkLayers: [CHECK_LAYER] } };
    },
  };
}

function blended(
  name: string,
  strategy: string,
  ratio: number,
  parts: (layers: number) => StrategyParts = () => ({}),
): Method {
  return {
    ...{ name, ratio },
    make: (prompt, { info }) => ({
      segments: reused(prompt),
      strategy: buildStrategy(strategy, { ratios: [ratio], ...parts(info.kvLayers) }, info.kvLayers),
    }),
  };
}

/** Those that take a share. */
function withRatio(ratio: number): Method[] {
  const third = (layers: number): number => Math.max(2, Math.round(layers / 3));
  return [
    random(ratio),
    blended('chunk-head', 'chunk-head', ratio),
    blended('deviation', 'deviation', ratio),
    blended('deviation, layer 0', 'deviation', ratio, () => ({ checkLayers: [0] })),
    blended('deviation, layer 2', 'deviation', ratio, () => ({ checkLayers: [2] })),
    blended('deviation, gradual', 'deviation', ratio, (layers) => ({
      checkLayers: [CHECK_LAYER, third(layers)],
    })),
    blended('query', 'query', ratio),
    blended('union', 'union', ratio),
  ];
}

/** Every method, those that take a share once for each. */
export function methodsFor(ratios: readonly number[]): Method[] {
  return [FULL, PREFIX, REUSE, DEFAULT, ...[4, 16, 32].map(head), ...ratios.flatMap(withRatio)];
}

export function label({ name, ratio }: Pick<Method, 'name' | 'ratio'>): string {
  return ratio === undefined ? name : `${name} ${Math.round(ratio * 1000) / 10} %`;
}

/** Indices in the prompt of passages' tokens, by how far they stand behind their passage's beginning. */
function placesOf({ before, chunks }: Prompt, chosen: (offset: number) => boolean): Int32Array {
  const places: number[] = [];
  let at = before.length;
  for (const { tokens } of chunks) {
    for (let offset = 0; offset < tokens.length; offset++) if (chosen(offset)) places.push(at + offset);
    at += tokens.length;
  }
  return Int32Array.from(places);
}
