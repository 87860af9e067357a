import { recommendedSampling, type ModelSampling } from '../../src-shared/sampling.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { Sampling } from '../engine/engine.ts';
import type { ChatModel } from '../fusion/model.ts';

interface RequestedSampling {
  temperature?: number | undefined;
  seed?: number | undefined;
  variety?: boolean | undefined;
}

/** Without a penalty, smaller models repeat themselves until the limit (decision 0243). */
const SMALL_PARAMETERS = 1e9;
const SMALL_PENALTY = 1.1;
const LEAST_VARIED = { temperature: 0.8, repeatPenalty: 1.15 };

/**
 * The sampling of an answer: from the request, else the model's setting, else the setting for all models, else the model header's
 * recommendation.
 */
export function samplingOf(
  asked: RequestedSampling,
  { temperature, sampling }: Pick<Settings, 'temperature' | 'sampling'>,
  { path, info }: Pick<ChatModel, 'path' | 'info'>,
): Partial<Sampling> {
  const chosen: ModelSampling = {
    ...(info.parameterCount < SMALL_PARAMETERS && { repeatPenalty: SMALL_PENALTY }),
    ...recommendedSampling(info.sampling),
    ...definedSampling({ temperature }),
    ...definedSampling(sampling[path] ?? {}),
    ...definedSampling({ temperature: asked.temperature, seed: asked.seed }),
  };
  const varied = asked.variety ? moreVaried(chosen) : chosen;
  const seed = varied.seed ?? Math.floor(Math.random() * 2 ** 32);
  return {
    ...(Object.fromEntries(Object.entries(varied)) as Partial<Sampling>),
    temperature: varied.temperature ?? 0,
    seed,
  };
}

/** The seed that led into a repetition would lead there again. */
function moreVaried(chosen: ModelSampling): ModelSampling {
  const { temperature = 0, repeatPenalty = 1 } = chosen;
  return {
    ...chosen,
    seed: undefined,
    temperature: Math.max(temperature, LEAST_VARIED.temperature),
    repeatPenalty: Math.max(repeatPenalty, LEAST_VARIED.repeatPenalty),
  };
}

function definedSampling(sampling: ModelSampling): ModelSampling {
  return Object.fromEntries(Object.entries(sampling).filter(([, value]) => value !== undefined));
}
