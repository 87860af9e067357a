import { Engine, type GgufInfo } from '../engine/engine.ts';
import type { Paths } from '../platform/paths.ts';
import type { StrategyChoice } from '../../src-shared/strategy.ts';

interface ModelChoice {
  path: string;
  /** Default chunk size in tokens. */
  chunkTokens(info: Pick<GgufInfo, 'contextTrain'>): number;
}

const DEFAULT_CHUNK_TOKENS = 512;
/** The demo model was trained on chunks of a few sentences. */
const DEMO_CHUNK_TOKENS = 96;
/** Tuned for the demo model: by deviation it is nearest to a full prefill (decision 0249). */
const DEMO_STRATEGY: StrategyChoice = { name: 'deviation', ratio: 0.1, checkLayers: [2] };
const MIN_CHUNK_TOKENS = 16;
/** A prompt should fit several chunks, a question and an answer. */
const CHUNKS_PER_CONTEXT = 8;

/** Reads a GGUF file's header, but no weights. MODEL_NOT_FOUND, MODEL_INVALID. */
export function inspectModel(path: string): GgufInfo {
  return Engine.open().inspect(path);
}

/** The user's model, else the demo model that comes with Kvasir. */
export function chooseModel(path: string | undefined, paths: Pick<Paths, 'demoModel'>): ModelChoice {
  if (path === undefined || path === paths.demoModel) {
    return { path: paths.demoModel, chunkTokens: () => DEMO_CHUNK_TOKENS };
  }
  return {
    path,
    chunkTokens: ({ contextTrain }) => {
      if (contextTrain <= 0) return DEFAULT_CHUNK_TOKENS;
      return Math.max(
        MIN_CHUNK_TOKENS,
        Math.min(DEFAULT_CHUNK_TOKENS, Math.floor(contextTrain / CHUNKS_PER_CONTEXT)),
      );
    },
  };
}

/** The blending strategy for a model before calibration; undefined: the general default. */
export function strategyBefore(path: string, paths: Pick<Paths, 'demoModel'>): StrategyChoice | undefined {
  return path === paths.demoModel ? DEMO_STRATEGY : undefined;
}
