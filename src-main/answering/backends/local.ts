import type { TokenChances } from '../../engine/engine.ts';
import { blend, type ChunkOutcome, type PromptPart } from '../../fusion/blender.ts';
import { keyFor, type FusionModel } from '../../fusion/model.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { eventsOf } from '../../platform/events-of.ts';
import { requireRoom, type Ask } from '../ask.ts';
import { resultTexts } from '../tools/result-texts.ts';
import { encodeMissing } from '../encode-missing.ts';
import { cachedTokens, localStats, promptFigures, ttftOf } from '../figures.ts';
import type { Miss } from '../miss-writer.ts';
import { fallbackNotice, lostNotice, quarantineNotice } from '../notices.ts';
import { citationsOf, type PartTiers, type PromptChunk, type Tier } from '../passages.ts';
import type { PromptRequest } from '../prompt.ts';
import { headOf, partsFrom, withPassages, type SessionTokens } from '../session-tokens.ts';
import { toolFormatOf } from '../tools/formats.ts';
import { ToolStream } from '../tools/tool-stream.ts';
import { endOfThought, PlainDecoder, pushAll, ThoughtStream, type AnswerDecoder } from '../thoughts.ts';
import { AnswerWriter } from '../answer-writer.ts';
import type {
  AnswerEvent,
  AnswerParts,
  Backend,
  Forecast,
  LocalTurn,
  ToolStep,
  TokenLogprobs,
  Turn,
} from './backend.ts';
import { concat, requireFits, templateTokens, tokenPrompt, type TokenPrompt } from './token-prompt.ts';

/** A model that runs here: prompts are token ids, blended from stored KV. */
export class LocalBackend implements Backend<TokenPrompt> {
  readonly takesGrammar = true;
  readonly #model: FusionModel;

  constructor(model: FusionModel) {
    this.#model = model;
  }

  layOut(request: PromptRequest): TokenPrompt {
    return tokenPrompt(this.#model, request);
  }

  turn(ask: Ask, prompt: TokenPrompt, parts: AnswerParts): AsyncGenerator<AnswerEvent, Turn, void> {
    return eventsOf((tell, stop) => {
      const signal = ask.signal ? AbortSignal.any([ask.signal, stop]) : stop;
      return takeTurn({ model: this.#model, ask, prompt, parts, tell, signal });
    });
  }

  followUp(prompt: TokenPrompt, { turn, ...step }: ToolStep, { tools, choices }: Ask): TokenPrompt {
    const model = this.#model;
    const written = model.detokenize(turn.answer, { special: true });
    const how = { ...step, written, tools: tools?.tools ?? [], think: choices.think };
    const { texts, behind } = resultTexts(model.info, how);
    const tokens = texts.map(({ frame, result }) =>
      concat(templateTokens(model, frame), model.tokenize(result)),
    );
    return { ...followedBy(prompt, concat(turn.answer, ...tokens, templateTokens(model, behind))), behind };
  }

  async foresee(
    { parts }: TokenPrompt,
    { choices: { dtype, strategy }, planner, past: pastOf = () => 0 }: Parameters<Backend['foresee']>[1],
  ): Promise<Forecast> {
    const past = pastOf(parts);
    const how = { model: this.#model, dtype, past, strategy };
    const { decision, cachedTokens } = await planner.plan(partsFrom(parts, past), how);
    const { predicted, predictedFullMs: fullMs } = decision;
    return { cachedTokens: past + cachedTokens, ms: predicted?.total ?? null, fullMs };
  }

  textsOf({ parts }: TokenPrompt): string[] {
    return parts.flatMap(({ lead, tokens }) => [
      ...(lead ? [this.#model.detokenize(lead)] : []),
      this.#model.detokenize(tokens),
    ]);
  }

  tokensOf({ parts }: TokenPrompt, bos: boolean): number[] {
    const tokens = parts.flatMap((part) => [...part.tokens]);
    return !bos && tokens[0] === this.#model.info.bosToken ? tokens.slice(1) : tokens;
  }

  requireFits(texts: readonly string[], contextTokens: number): Promise<void> {
    return requireFits(texts, this.#model, contextTokens);
  }
}

/** One answer in the making. */
interface Run {
  model: FusionModel;
  ask: Ask;
  prompt: TokenPrompt;
  parts: AnswerParts;
  tell: (event: AnswerEvent) => void;
  signal: AbortSignal;
}

/** ABORTED when stopped before the first token; the session then holds the tokens that it shares with the prompt. */
async function takeTurn(run: Run): Promise<Turn> {
  const { ask, model, prompt: laidOut, parts, tell } = run;
  throwIfAborted(run.signal);
  const storedNow = ask.storesFirst ? await storeChunks(run) : NOTHING_STORED;
  const begun = begunTokens(run);
  const whole: Run = { ...run, prompt: followedBy(laidOut, begun) };
  requireRoom(whole.prompt.tokens, ask);
  const writing = ask.raw
    ? new PlainDecoder(model)
    : new ThoughtStream(model, laidOut.behind, { showsControl: ask.tools !== undefined });
  const before = await pushAll(writing, begun);
  if (begun.length > 0) tell({ kind: 'begun', written: before });
  const calls = callStream(ask, model);
  const written = new AnswerWriter({ writing, tell, calls, begun: before, mayRepeat: ask.raw ?? false });
  const assemble = ask.stopwatch.lap();
  const { contextTokens, maxTokens } = ask.choices;
  const need = Math.min(contextTokens, whole.prompt.tokens + maxTokens);
  const held = await ask.openSession({ model, parts: whole.prompt.parts, need });
  const processed = await processPrompt(whole, held);
  const { planned, planMs, tiers, notices, figures, appended, decision, blended } = processed;
  const usage = {
    promptTokens: whole.prompt.tokens,
    cachedTokens: ask.storesFirst ? cachedTokens(processed, storedNow.parts) : 0,
    storedTokens: storedNow.tokens,
  };
  tell({ kind: 'prompt', usage });
  ask.stopwatch.lap();
  const { result, firstToken, total } = await generate(whole, held, { writing, written });
  const plan = parts.planner.done(planned, blended);
  const local: LocalTurn = { model, prompt: laidOut, appended, decision, blended, plan };
  parts.misses?.write(model, missesOf(run, tiers));
  // Clients' prompts begin with their own text, which is not stored.
  if (ask.form === 'conversation') keepBeginnings(run);
  const ttftMs = ttftOf(blended, {
    wait: 0,
    ...ask.before,
    assemble,
    planMs,
    total,
    server: 0,
    firstToken,
  });
  return {
    thought: written.thought,
    text: written.text,
    stop: result.stop,
    tiers,
    notices,
    figures,
    stats: localStats(local, { figures, tiers, ttftMs, result, costs: parts.planner.costs }),
    usage,
    answer: result.tokens,
    tokensBefore: writing.tokensBefore,
    local,
  };
}

/** Stores the prompt's beginnings for other conversations. */
function keepBeginnings({ ask: { choices }, model, prompt, parts: { prefixes } }: Run): void {
  prefixes?.keep(model, headOf(prompt.parts));
  if (model.blends || !choices.storeMisses) return;
  const { tokens, documents } = withPassages(prompt.parts);
  if (documents.length > 0) prefixes?.keep(model, tokens, documents.join(', '));
}

/** The chunks of a prompt that were computed and stored for it. */
interface EncodedParts {
  tokens: number;
  /** Indices of the prompt's parts. */
  parts: ReadonlySet<number>;
}

const NOTHING_STORED: EncodedParts = { tokens: 0, parts: new Set() };

/** Stores chunks so that the next prompt finds them, too. */
async function storeChunks({ ask, model, prompt, parts, signal }: Run): Promise<EncodedParts> {
  const { choices, stopwatch } = ask;
  const { store, planner, log } = parts;
  const { cited } = prompt;
  const stored = new Set<PromptChunk>();
  const encoded = await encodeMissing(
    cited.map(({ chunk }) => chunk),
    {
      model,
      store,
      choices,
      costs: planner.costs,
      clock: stopwatch.clock,
      signal,
      onRefused: (error) => log?.warn?.('chunk-not-stored', { error: String(error) }),
      onEncoded: (chunk) => stored.add(chunk),
    },
  );
  const placed = cited.filter(({ chunk }) => stored.has(chunk));
  return { tokens: encoded?.tokens ?? 0, parts: new Set(placed.map(({ part }) => part)) };
}

/** The tokens of a begun answer; in a text, a thought that the template opened is over. */
function begunTokens({ ask: { begun }, prompt: { behind }, model }: Run): Int32Array {
  if (begun?.tokens) return begun.tokens;
  if (!begun || begun.text === '') return new Int32Array(0);
  const end = endOfThought(behind);
  return concat(
    end === '' ? new Int32Array(0) : model.tokenize(end, { special: true }),
    model.tokenize(begun.text),
  );
}

/** Reads the calls of an answer; undefined where it may have none. */
function callStream({ tools }: Ask, { info }: FusionModel): ToolStream | undefined {
  if (!tools || tools.choice === 'none') return undefined;
  const format = toolFormatOf(info.chatTemplate);
  return format && new ToolStream(format, tools.tools);
}

function followedBy(prompt: TokenPrompt, tokens: Int32Array): TokenPrompt {
  if (tokens.length === 0) return prompt;
  const written: PromptPart = { kind: 'text', tokens, turn: prompt.parts.at(-1)?.turn ?? 0 };
  return { ...prompt, parts: [...prompt.parts, written], tokens: prompt.tokens + tokens.length };
}

/** Has the session hold what it can of the prompt, and appends the rest. */
async function processPrompt(run: Run, held: SessionTokens) {
  const { ask, model, prompt, parts, tell, signal } = run;
  const { store, planner } = parts;
  const { strategy, dtype } = ask.choices;
  const { clock } = ask.stopwatch;
  let damagedPrefixes = 0;
  const onDamaged = (): void => void damagedPrefixes++;
  const counts = await held.resume(prompt.parts, { model, strategy, prefixes: parts.prefixes, onDamaged });
  const { residentTokens } = counts;
  const appended = partsFrom(prompt.parts, residentTokens);
  const tellPlaced = (outcomes: readonly ChunkOutcome[]): PartTiers => {
    const tiers = partTiers(prompt.parts, appended, outcomes);
    tell({ kind: 'placed', citations: citationsOf(prompt, tiers), prompt });
    return tiers;
  };
  const planning = clock.now();
  const planned = await planner.plan(appended, { model, dtype, past: residentTokens, strategy });
  const planMs = clock.now() - planning;
  const { decision } = planned;
  const notices = fallbackNotice(decision);
  for (const notice of notices) tell({ kind: 'notice', notice });
  const blended = await blend(planned.parts, {
    model,
    dtype,
    store,
    clock,
    signal,
    strategy: decision.strategy,
    session: held.session,
    requestClass: ask.requestClass,
    priority: ask.priority,
    onProgress: (progress) => tell({ kind: 'progress', progress }),
    onAcquired: tellPlaced,
  });
  held.appended(appended, strategy);
  const isDamaged = blended.quarantined.length + blended.lost.length > 0;
  const tiers = isDamaged
    ? tellPlaced(blended.outcomes)
    : partTiers(prompt.parts, appended, blended.outcomes);
  const figures = promptFigures(blended.report, counts);
  const quarantined = blended.quarantined.length + damagedPrefixes;
  const damage = [...quarantineNotice(quarantined), ...lostNotice(blended.lost.length)];
  for (const notice of damage) tell({ kind: 'notice', notice });
  notices.push(...damage);
  return { planned, planMs, decision, blended, appended, figures, tiers, notices };
}

async function generate(
  { ask: { choices, stopwatch }, model, tell, signal }: Run,
  held: SessionTokens,
  { writing, written }: { writing: AnswerDecoder; written: AnswerWriter },
) {
  const { session } = held;
  let firstTokenAt: number | undefined;
  const room = session.capacity - session.length;
  const result = await session.generate({
    maxTokens: Math.min(choices.maxTokens, room),
    signal: AbortSignal.any([signal, written.repeats]),
    sampling: choices.sampling,
    onToken: (token, chances) => {
      firstTokenAt ??= stopwatch.clock.now();
      tell({ kind: 'token', logprobs: chances && logprobsOf(token, chances, model) });
      written.add(writing.push(token));
    },
  });
  written.add(writing.flush());
  written.end();
  held.generated(result.tokens);
  firstTokenAt ??= stopwatch.clock.now();
  const atEnd = result.stop === 'length' && room < choices.maxTokens ? 'context' : result.stop;
  return {
    result: { ...result, stop: written.repeats.aborted ? ('repetition' as const) : atEnd },
    firstToken: firstTokenAt - stopwatch.lapStart,
    total: firstTokenAt - stopwatch.start,
  };
}

function logprobsOf(
  token: number,
  { logprob, top }: TokenChances,
  model: Pick<FusionModel, 'detokenize'>,
): TokenLogprobs {
  const text = (id: number): string => model.detokenize([id], { special: true });
  return { token, text: text(token), logprob, top: top.map((each) => ({ ...each, text: text(each.token) })) };
}

/** Passages whose KV is not stored, or only in part. A full prefill is the baseline for blending: it stores nothing. */
function missesOf({ ask, model, prompt, parts: { store } }: Run, tiers: PartTiers): Miss[] {
  const { dtype, storeMisses, strategy } = ask.choices;
  if (!storeMisses || strategy.kind === 'full') return [];
  return prompt.cited
    .filter(({ chunk, part }) => tiers.get(part) !== 'resident' && chunk.passage && !chunk.passage.standsIn)
    .filter(({ chunk }) => !store.has(keyFor(model, dtype, chunk)))
    .map(({ chunk: { tokens, lead, label } }) => ({ tokens, lead, dtype, label }));
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
