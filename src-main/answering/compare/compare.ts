import {
  SWEEP_RATIOS,
  type ComparedMethod,
  type Comparison,
  type DeepView,
  type DeepPrompt,
  type SweepPoint,
} from '../../../src-shared/comparison.ts';
import { takesRatio, type StrategyChoice } from '../../../src-shared/strategy.ts';
import type { SessionDeviation } from '../../engine/engine.ts';
import { klDivergence, likeliest, mostLikely, wordF1 } from '../../fusion/quality.ts';
import { requireBlending, type FusionSession } from '../../fusion/model.ts';
import { tokenTexts } from '../detokenizer.ts';
import { promptFigures } from '../figures.ts';
import type { PromptPart } from '../../fusion/blender.ts';
import { partsFrom } from '../session-tokens.ts';
import { deepOf, layerMeans } from './deep.ts';
import { makePrompt, type Outcome, type RunOptions } from './run.ts';
import { REUSE, sameMethod, methodsFor, type PromptMethod } from './prompt-methods.ts';

interface CompareOptions extends Omit<RunOptions, 'session' | 'observe' | 'behind' | 'onProgress'> {
  /** The model's display name. */
  name: string;
  /** How the answer was made, and what else to compare. */
  answered: StrategyChoice;
  strategies: readonly StrategyChoice[];
  deep: boolean;
  /** A session with room for this many tokens; disposed here. OUT_OF_MEMORY. */
  createSession: (capacity: number) => FusionSession;
  /** Runs a step while nobody else uses the model. */
  step: <T>(work: () => Promise<T>) => Promise<T>;
  /** Prompts done (fractional while one is being computed), and in total. */
  onProgress?: ((progress: { done: number; total: number }) => void) | undefined;
}

/** How many of the question's last tokens have their attention compared; their weights for all keys are kept for every layer. */
const OBSERVED = 8;
const CANDIDATES = 5;
/** Tokens computed before measuring starts: the first pass of a process pays for memory allocation. */
const WARM_UP = 16;

/** A comparison without its subject. */
type ComparisonResult = Pick<
  Comparison,
  'model' | 'device' | 'layerCount' | 'dtype' | 'promptTokens' | 'answerTokens' | 'methods' | 'deep'
>;

/**
 * Computes one prompt in several ways and compares each with the full prefill, whose session is kept meanwhile. MODEL_UNSUPPORTED, ABORTED,
 * OUT_OF_MEMORY, ENGINE_FAILED.
 */
export async function comparePrompt(
  { parts, behind }: { parts: readonly PromptPart[]; behind: string },
  options: CompareOptions,
): Promise<ComparisonResult> {
  requireBlending(options.name, options.model);
  const comparing = new ComparisonRun(partsFrom(parts, 0), { ...options, behind });
  try {
    return await comparing.run();
  } finally {
    comparing.dispose();
  }
}

class ComparisonRun {
  readonly #parts: readonly PromptPart[];
  readonly #options: CompareOptions & Pick<RunOptions, 'behind'>;
  readonly #tokens: number;
  readonly #observe: number;
  readonly #ways: PromptMethod[];
  /** The ways, and the ratios of a sweep that are not among them. */
  readonly #runs: PromptMethod[];
  #sessions: { full: FusionSession; other: FusionSession } | undefined;
  #full: Outcome | undefined;
  #reuse: Outcome | undefined;

  constructor(parts: readonly PromptPart[], options: CompareOptions & Pick<RunOptions, 'behind'>) {
    this.#parts = parts;
    this.#options = options;
    this.#tokens = parts.reduce((sum, { tokens }) => sum + tokens.length, 0);
    this.#observe = options.deep ? Math.min(OBSERVED, parts.at(-1)?.tokens.length ?? 0) : 0;
    this.#ways = methodsFor(options.answered, options.strategies);
    const swept = options.deep ? sweepOf(options) : [];
    this.#runs = [
      ...this.#ways,
      ...swept.filter((way) => !this.#ways.some((known) => sameMethod(known, way))),
    ];
  }

  async run(): Promise<ComparisonResult> {
    const { model, name, dtype, answerTokens, step, onProgress } = this.#options;
    const total = this.#runs.length;
    onProgress?.({ done: 0, total });
    await step(() => this.#warmUp());
    const made: MethodResult[] = [];
    for (const [index, way] of this.#runs.entries()) {
      const tell = (part: number): void => onProgress?.({ done: index + part, total });
      made.push(await step(() => this.#make(way, tell)));
      tell(1);
    }
    return {
      model: name,
      device: [...new Set(model.info.layerDevices)].join('+'),
      layerCount: model.info.layers,
      dtype,
      promptTokens: this.#tokens,
      answerTokens,
      methods: made.slice(0, this.#ways.length).map(({ method }) => method),
      deep: this.#options.deep ? await this.#deepPrompt(made) : null,
    };
  }

  dispose(): void {
    this.#sessions?.full.dispose();
    this.#sessions?.other.dispose();
  }

  /** Reserves memory and loads chunks from disk, so that no way pays for being the first. */
  async #warmUp(): Promise<void> {
    const { createSession, answerTokens, signal } = this.#options;
    const capacity = this.#tokens + answerTokens;
    const full = createSession(capacity);
    try {
      this.#sessions = { full, other: createSession(capacity) };
    } catch (error) {
      full.dispose();
      throw error;
    }
    const tokens = this.#parts[0]?.tokens.subarray(0, WARM_UP) ?? new Int32Array(0);
    await full.append([{ kind: 'compute', tokens }], { kind: 'full' }, { signal });
    await full.generate({ maxTokens: 1, signal });
    const session = this.#sessions.other;
    await makePrompt(this.#parts, REUSE, {
      ...this.#options,
      session,
      answerTokens: 1,
      observe: 0,
      onProgress: undefined,
    });
  }

  async #make(way: PromptMethod, tell: (part: number) => void): Promise<MethodResult> {
    if (!this.#sessions) throw new Error('a way runs only after the warm-up');
    const { full, other } = this.#sessions;
    const session = way.kind === 'full' ? full : other;
    const outcome = await makePrompt(this.#parts, way, {
      ...this.#options,
      session,
      observe: this.#observe,
      onProgress: ({ done, total }) => tell(total > 0 ? done / total : 0),
    });
    if (way.kind === 'full') this.#full = outcome;
    if (way.kind === 'reuse') this.#reuse = outcome;
    const exact = way.kind === 'full' || way.kind === 'prefix';
    if (!this.#options.deep || exact) return { method: this.#method(outcome, null), point: undefined };
    const deviation = await session.deviationFrom(full, 0, this.#tokens);
    const { layers } = this.#options.model.info;
    const method = this.#method(outcome, deepOf(deviation, layers, outcome));
    return { method, point: pointOf(method, deviation, layerMeans(deviation.v, layers, outcome)) };
  }

  #method(
    { way, logits, thought, text, complete, ttftMs, residentTokens, report }: Outcome,
    deep: DeepView | null,
  ): ComparedMethod {
    const full = this.#full;
    if (!full) throw new Error('the full prefill comes first');
    const { model } = this.#options;
    const held = { residentTokens, prefixTokens: 0, restoredTokens: 0 };
    const { reusedTokens, recomputedTokens, bytesLoaded } = promptFigures(report, held);
    return {
      ...way,
      thought,
      text,
      complete,
      ttftMs,
      residentTokens,
      reusedTokens,
      recomputedTokens,
      bytesLoaded,
      kl: klDivergence(full.logits, logits),
      agrees: likeliest(full.logits) === likeliest(logits),
      answerF1: wordF1(`${thought} ${text}`, `${full.thought} ${full.text}`),
      candidates: mostLikely(logits, CANDIDATES).map(({ token, probability }) => {
        return { text: model.detokenize([token], { special: true }), probability };
      }),
      deep,
    };
  }

  async #deepPrompt(made: readonly MethodResult[]): Promise<DeepPrompt> {
    const ids = this.#parts.flatMap(({ tokens }) => [...tokens]);
    let start = 0;
    const parts = this.#parts.map(({ kind, tokens, source }) => {
      const cached = this.#reuse?.cached.subarray(start, start + tokens.length).includes(1) === true;
      const part = { kind, start, tokens: tokens.length, title: source?.title ?? null, cached };
      start += tokens.length;
      return part;
    });
    const points = sweepOf(this.#options).flatMap((way) => {
      const point = made[this.#runs.findIndex((run) => sameMethod(run, way))]?.point;
      return point ?? [];
    });
    return {
      parts,
      tokens: await tokenTexts(ids, (some) => this.#options.model.detokenize(some, { special: true })),
      sweep: { strategy: sweptStrategy(this.#options).name, points },
    };
  }
}

interface MethodResult {
  method: ComparedMethod;
  point: SweepPoint | undefined;
}

/** The first strategy that takes a ratio. */
function sweptStrategy({ answered, strategies }: CompareOptions): Omit<StrategyChoice, 'ratio'> {
  const choices = [answered, ...strategies];
  return choices.find(({ name }) => takesRatio(name)) ?? { name: 'deviation' };
}

function sweepOf(options: CompareOptions): PromptMethod[] {
  const swept = sweptStrategy(options);
  return SWEEP_RATIOS.map((ratio) => {
    return ratio === 0 ? REUSE : { kind: 'blend', strategy: { ...swept, ratio }, answered: false };
  });
}

function pointOf(
  { strategy, recomputedTokens, kl, agrees }: ComparedMethod,
  { attention }: SessionDeviation,
  v: number[],
): SweepPoint {
  return { ratio: strategy.ratio, recomputedTokens, kl, agrees, attention: [...(attention ?? [])], v };
}
