import type { PromptFigures } from '../../src-shared/figures.ts';
import type { Ttft } from '../../src-shared/ttft.ts';
import type { FusionPlan } from '../../src-shared/plan.ts';
import type { GenerateResult, KvDtype, Progress, Sampling, TokenChances } from '../engine/engine.ts';
import { blend, type BlendResult, type ChunkOutcome, type PromptPart } from '../fusion/blender.ts';
import type { Decision, Planner } from '../fusion/planning/planner.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import { isRemote, type ChunkCache, type FusionModel } from '../fusion/model.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import type { Logger } from '../platform/logger.ts';
import { promptFigures, type HeldTokens } from './figures.ts';
import type { PartTiers, Tier } from './passages.ts';
import type { Offered, Prompt } from './prompt.ts';
import { RepetitionWatch } from './repetition.ts';
import { leadingText, partsFrom, type SessionTokens } from './session-tokens.ts';
import type { Stopwatch } from './stopwatch.ts';
import { ThoughtStream, type Writing, type AnswerDelta } from './thoughts.ts';

interface TurnOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
  strategy: StrategyOrAuto;
  planner: Planner;
  /** Prompt prefixes that survive a restart. */
  prefixes?: StoredPrefixes | undefined;
  maxTokens: number;
  /** For a continued answer: it has read the earlier text. Default: one that recognises thoughts. */
  writing?: Writing | undefined;
  sampling?: Partial<Sampling> | undefined;
  /** Whether it may repeat itself: it continues raw text, or follows a grammar. */
  mayRepeat?: boolean | undefined;
  /** Logs a line about each answer. */
  log?: Pick<Logger, 'debug'> | undefined;
  stopwatch: Stopwatch;
  /** The kind of request, for the eviction policy to learn from. Default: a question. */
  requestClass?: string | undefined;
  /** The priority of its computation, as in AppendOptions. Default: a person's. */
  priority?: number | undefined;
  /** Time already spent, in milliseconds. */
  before: Pick<Ttft, 'retrieve' | 'assemble'> & Partial<Pick<Ttft, 'wait'>>;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with the decision before anything is computed. */
  onDecided?: ((decision: Decision) => void) | undefined;
  /** Called with the source of each passage's KV before the prompt is processed, and again if damaged files change it. */
  onPlaced?: ((tiers: PartTiers) => void) | undefined;
  /** Called once the prompt has been processed, before the first token. */
  onPrompt?: ((blended: BlendedPrompt) => void) | undefined;
  /** Called with each token, before its text. */
  onToken?: ((token: number, chances: TokenChances | undefined) => void) | undefined;
  /** More thinking text before the answer, and the number of thinking tokens so far. */
  onThought?: ((text: string, tokens: number) => void) | undefined;
  /** More text of the answer. */
  onText?: ((text: string) => void) | undefined;
}

/** Sources of a prompt's tokens. */
export type BlendedPrompt = Pick<TurnResult, 'figures' | 'appended' | 'blended'>;

export interface TurnResult {
  figures: PromptFigures;
  /** The parts appended after the resident tokens, each with its index in the prompt. */
  appended: (PromptPart & { index: number })[];
  decision: Decision;
  blended: BlendResult;
  /** The decision, the prediction, and the result. */
  plan: FusionPlan;
  tiers: PartTiers;
  /** The generated tokens, thoughts included, without the given beginning of the answer. */
  answer: Int32Array;
  /** How many tokens at its beginning (including the given beginning) do not belong to the answer: thoughts and the marks around them. */
  tokensBefore: number;
  /** 'aborted' when it was stopped while being written, 'context' when the context is full, 'repetition' when it repeats itself. */
  stop: GenerateResult['stop'] | 'repetition';
  tokensPerSecond: number;
  ttftMs: Ttft;
  /** Usage counted by the server, for a remote model. */
  usage?: GenerateResult['usage'] | undefined;
}

/**
 * One turn in a session: truncates the session to the tokens it shares with the prompt, appends the rest, and generates the answer. ABORTED
 * when stopped before the first token; the session then holds the shared tokens.
 */
export async function runTurn(
  prompt: Prompt<Offered>,
  held: SessionTokens,
  options: TurnOptions,
): Promise<TurnResult> {
  const { model, dtype, strategy, planner, stopwatch } = options;
  const kept = held.reusable(prompt.parts, strategy);
  held.truncate(kept);
  const { prefixTokens, restoredTokens } = kept === 0 ? await begin(held, prompt.parts, options) : NOTHING;
  const residentTokens = kept + prefixTokens;
  const appended = partsFrom(prompt.parts, residentTokens);
  const tiersOf = (outcomes: readonly ChunkOutcome[]): PartTiers =>
    partTiers(prompt.parts, appended, outcomes);
  const planning = stopwatch.clock.now();
  const planned = await planner.plan(appended, { model, dtype, past: residentTokens, strategy });
  const { decision } = planned;
  const planMs = stopwatch.clock.now() - planning;
  options.onDecided?.(decision);
  const blended = await blend(planned.parts, {
    model,
    dtype,
    strategy: decision.strategy,
    store: options.store,
    session: held.session,
    requestClass: options.requestClass ?? 'question',
    priority: options.priority,
    clock: stopwatch.clock,
    signal: options.signal,
    onProgress: options.onProgress,
    onAcquired: (outcomes) => options.onPlaced?.(tiersOf(outcomes)),
  });
  held.appended(appended, strategy);
  const tiers = tiersOf(blended.outcomes);
  if (blended.quarantined.length + blended.lost.length > 0) options.onPlaced?.(tiers);
  const figures = promptFigures(blended.report, { residentTokens, prefixTokens, restoredTokens });
  options.onPrompt?.({ figures, appended, blended });
  stopwatch.lap();
  const writing = options.writing ?? new ThoughtStream(model, prompt.behind);
  const { result, firstToken, total } = await write(held, writing, options);
  const plan = planner.done(planned, blended);
  const turn: TurnResult = {
    figures,
    appended,
    decision,
    blended,
    plan,
    tiers,
    answer: result.tokens,
    tokensBefore: writing.tokensBefore,
    stop: result.stop,
    tokensPerSecond: result.ms > 0 ? (written(result) * 1000) / result.ms : 0,
    ttftMs: ttftOf(blended, {
      wait: 0,
      ...options.before,
      planMs,
      total,
      ...(isRemote(model) ? { server: firstToken, firstToken: 0 } : { server: 0, firstToken }),
    }),
    usage: result.usage,
  };
  options.log?.debug('answer', logged(turn, options));
  return turn;
}

/** The log entry of an answer: it contains no text from documents or people. */
function logged(turn: TurnResult, { requestClass = 'question' }: TurnOptions): Record<string, unknown> {
  const { decision, figures, blended, ttftMs, stop } = turn;
  const tiers: Record<string, number> = {};
  for (const tier of turn.tiers.values()) tiers[tier] = (tiers[tier] ?? 0) + 1;
  return {
    requestClass,
    strategy: decision.strategy.kind,
    reason: decision.reason,
    ...figures,
    tiers,
    promptMs: Math.round(blended.report.totalMs),
    ttftMs: Math.round(ttftMs.total),
    answerTokens: turn.answer.length,
    tokensPerSecond: Math.round(turn.tokensPerSecond * 10) / 10,
    stop,
  };
}

/** Token count, the server's for a remote model: its text arrives in other units. */
function written({ tokens, usage }: Pick<GenerateResult, 'tokens' | 'usage'>): number {
  return usage ? (usage.answerTokens ?? 0) : tokens.length;
}

const NOTHING = { prefixTokens: 0, restoredTokens: 0 };

/** Fills an empty session with KV of the prompt's text that was computed earlier, for another session or before a restart. */
export async function begin(
  held: SessionTokens,
  parts: readonly PromptPart[],
  { model, prefixes }: Pick<TurnOptions, 'model' | 'prefixes'>,
): Promise<Pick<HeldTokens, 'prefixTokens' | 'restoredTokens'>> {
  const text = leadingText(parts);
  let prefixTokens = await held.adopt(text);
  if (await prefixes?.bring(model, text, prefixTokens)) {
    held.truncate(0);
    prefixTokens = await held.adopt(text);
  }
  return { prefixTokens, restoredTokens: prefixes?.restored(model, text, prefixTokens) ?? 0 };
}

async function write(held: SessionTokens, writing: Writing, options: TurnOptions) {
  const { stopwatch } = options;
  const { session } = held;
  let firstTokenAt: number | undefined;
  const repeated = new AbortController();
  const watches = { thought: new RepetitionWatch(), answer: new RepetitionWatch() };
  const show = ({ thought, answer }: AnswerDelta): void => {
    if (repeated.signal.aborted) return; // tokens that were in flight
    if (thought !== '') options.onThought?.(thought, writing.tokensBefore);
    if (answer !== '') options.onText?.(answer);
    if (options.mayRepeat) return;
    if (watches.thought.push(thought) || watches.answer.push(answer)) repeated.abort();
  };
  const room = session.capacity - session.length;
  const result = await session.generate({
    maxTokens: Math.min(options.maxTokens, room),
    signal: options.signal ? AbortSignal.any([options.signal, repeated.signal]) : repeated.signal,
    ...(options.sampling && { sampling: options.sampling }),
    onToken: (token, chances) => {
      firstTokenAt ??= stopwatch.clock.now();
      options.onToken?.(token, chances);
      show(writing.push(token));
    },
  });
  show(writing.flush());
  held.generated(result.tokens);
  firstTokenAt ??= stopwatch.clock.now();
  const atEnd = result.stop === 'length' && room < options.maxTokens ? 'context' : result.stop;
  const stop: TurnResult['stop'] = repeated.signal.aborted ? 'repetition' : atEnd;
  return {
    result: { ...result, stop },
    firstToken: firstTokenAt - stopwatch.lapStart,
    total: firstTokenAt - stopwatch.start,
  };
}

function partTiers(
  parts: readonly PromptPart[],
  appended: readonly (PromptPart & { index: number })[],
  outcomes: readonly ChunkOutcome[],
): PartTiers {
  const chunks = appended.filter(({ kind }) => kind === 'chunk');
  const tiers = new Map(chunks.map(({ index }, i): [number, Tier] => [index, outcomes[i] ?? 'computed']));
  parts.forEach(({ kind }, index) => {
    if (kind === 'chunk' && !tiers.has(index)) tiers.set(index, 'resident');
  });
  return tiers;
}

/** The parts of the time to first token; the remainder of the total is `other`. */
export function ttftOf(
  { report: { stages, totalMs }, acquireMs }: BlendResult,
  { total, planMs, ...times }: Omit<Ttft, 'acquire' | BlendStage | 'other'> & { planMs: number },
): Ttft {
  const blending: Pick<Ttft, BlendStage> = {
    load: stages.loadWait,
    place: stages.place,
    check: stages.question + stages.check + stages.select,
    recompute: stages.compute + stages.head,
  };
  // Rows gathered, layers started: what an append does between its stages.
  blending.recompute += Math.max(0, totalMs - sum(Object.values(blending)));
  const parts = { ...times, acquire: planMs + acquireMs, ...blending };
  return { total, ...parts, other: Math.max(0, total - sum(Object.values(parts))) };
}

type BlendStage = 'load' | 'place' | 'check' | 'recompute';

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
