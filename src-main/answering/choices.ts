import type { TextKind } from '../../src-shared/contract/calibration.ts';
import { recommendedSampling, type ModelSampling } from '../../src-shared/sampling.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { StrategyRequest } from '../../src-shared/strategy.ts';
import type { KvDtype, Sampling } from '../engine/engine.ts';
import type { ChatModel } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import type { AnsweringModel } from './named-model.ts';
import type { ToolRequest } from './tools.ts';

/** How to make an answer. */
export interface AnswerChoices {
  strategy: StrategyOrAuto;
  /** Whether cached chunks are used at all. */
  blends: boolean;
  /** Chunks in the prompt at most; undefined: as many as suit their size. */
  topK: number | undefined;
  /** Tokens of the answer at most. */
  maxTokens: number;
  /** Tokens of prompt and answer at most. */
  contextTokens: number;
  dtype: KvDtype;
  /** With a project's instructions, then that for strict answers. */
  systemPrompt: string;
  /** Whether the model should think first, where its template offers the choice. */
  think: boolean;
  storeMisses: boolean;
  sampling: Partial<Sampling>;
  /** What answers of a conversation may call. */
  tools?: ToolRequest | undefined;
}

/** The choices in a request; settings apply where it has none. */
interface RequestedChoices {
  strategy?: StrategyRequest | undefined;
  topK?: number | undefined;
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  seed?: number | undefined;
  strict?: boolean | undefined;
  think?: boolean | undefined;
  /** Added to the system prompt of the settings; '' or absent: none. */
  instructions?: string | undefined;
  /** Whether the answer should differ from an earlier one that repeated itself. */
  variety?: boolean | undefined;
  /** Default: that of a library. */
  textKind?: TextKind | undefined;
}

/** Name in the demo model's header. Instructions make that model answer worse. */
const DEMO_NAME = 'Kvasir demo';

/** The instruction for strict answers; small models do not always follow it. */
const STRICT =
  'Answer from the passages in this conversation alone. If they do not contain the answer, say that they do not.';

export function choicesOf(
  asked: RequestedChoices,
  settings: Settings,
  model: AnsweringModel,
  planner: Planner,
): AnswerChoices {
  const { dtype, storeMisses } = settings;
  const strict = (asked.strict ?? settings.strict ?? model.info.name !== DEMO_NAME) ? STRICT : '';
  const kind = asked.textKind ?? 'headings';
  const strategy: StrategyOrAuto = model.blends
    ? planner.resolve(model, asked.strategy ?? settings.strategy)
    : { kind: 'full' };
  return {
    strategy,
    dtype,
    storeMisses,
    think: asked.think ?? settings.think,
    systemPrompt: [settings.systemPrompt, asked.instructions, strict].filter(Boolean).join('\n\n'),
    blends: model.blends && planner.blends(model, strategy, kind),
    topK: asked.topK ?? settings.topK,
    maxTokens: asked.maxTokens ?? settings.maxTokens,
    contextTokens: contextLimit(model, settings.contextTokens),
    sampling: samplingOf(asked, settings, model),
  };
}

/** Tokens of prompt and answer at most: the user's limit, or the model's training length when that is lower. */
export function contextLimit({ info }: Pick<ChatModel, 'info'>, contextTokens: number): number {
  return info.contextTrain > 0 ? Math.min(info.contextTrain, contextTokens) : contextTokens;
}

type AnswerRoom = Pick<AnswerChoices, 'contextTokens' | 'maxTokens'>;

/** However long an answer may be, reserving this share of the context for it is enough. */
const LARGEST_ANSWER_SHARE = 1 / 4;

/** Tokens that a prompt leaves free for its answer. */
export function answerReserve({ contextTokens, maxTokens }: AnswerRoom): number {
  return Math.min(maxTokens, Math.floor(contextTokens * LARGEST_ANSWER_SHARE));
}

/** Without a penalty, smaller models repeat themselves until the limit (decision 0243). */
const SMALL_PARAMETERS = 1e9;
const SMALL_PENALTY = 1.1;
const LEAST_VARIED = { temperature: 0.8, repeatPenalty: 1.15 };

/**
 * The sampling of an answer: from the request, else the model's setting, else the setting for all models, else the model header's
 * recommendation.
 */
function samplingOf(
  asked: Pick<RequestedChoices, 'temperature' | 'seed' | 'variety'>,
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
