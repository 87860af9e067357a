import type { TextKind } from '../../src-shared/contract/calibration.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { StrategyRequest } from '../../src-shared/strategy.ts';
import type { KvDtype, Sampling } from '../engine/engine.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import { contextLimit } from './limits.ts';
import { samplingOf } from './sampling.ts';

/** How an answer is made. */
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
  /** With what a strict answer's model is told. */
  systemPrompt: string;
  /** Whether the model is to think first, where its template leaves the choice. */
  think: boolean;
  storeMisses: boolean;
  sampling: Partial<Sampling>;
}

/** What was asked for; the settings' choice where nothing was. */
interface AskedChoices {
  strategy?: StrategyRequest | undefined;
  topK?: number | undefined;
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  strict?: boolean | undefined;
  think?: boolean | undefined;
  /** Whether the answer is to be another one than before, of an answer that repeated itself. */
  variety?: boolean | undefined;
  /** Default: a library's. */
  textKind?: TextKind | undefined;
}

/** Name in the demo model's header. An instruction makes that model answer worse. */
const DEMO_NAME = 'Kvasir demo';

/** What a strict answer's model is told; small models do not always keep to it. */
const STRICT =
  'Answer from the passages in this conversation alone. If they do not contain the answer, say that they do not.';

export function choicesOf(
  asked: AskedChoices,
  settings: Settings,
  model: FusionModel,
  planner: Planner,
): AnswerChoices {
  const { dtype, storeMisses } = settings;
  const strict = (asked.strict ?? settings.strict ?? model.info.name !== DEMO_NAME) ? STRICT : '';
  const kind = asked.textKind ?? 'headings';
  const strategy = planner.resolve(model, asked.strategy ?? settings.strategy);
  return {
    strategy,
    dtype,
    storeMisses,
    think: asked.think ?? settings.think,
    systemPrompt: [settings.systemPrompt, strict].filter((text) => text !== '').join('\n\n'),
    blends: planner.blends(model, strategy, kind),
    topK: asked.topK ?? settings.topK,
    maxTokens: asked.maxTokens ?? settings.maxTokens,
    contextTokens: contextLimit(model, settings.contextTokens),
    sampling: samplingOf(asked, settings, model),
  };
}
