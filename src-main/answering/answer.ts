import type { Notice } from '../../src-shared/answer.ts';
import type { AnswerStats, Citation } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Progress } from '../engine/engine.ts';
import type { PromptPart } from '../fusion/blender.ts';
import { keyFor, type ChunkCache, type FusionModel } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Logger } from '../platform/logger.ts';
import type { Retrieval } from '../retrieval/types.ts';
import type { AnswerChoices } from './choices.ts';
import type { Miss, MissWriter } from './miss-writer.ts';
import {
  fallbackNotice,
  nothingMatches,
  promptNotices,
  lostNotice,
  missingNotice,
  quarantineNotice,
  requireRead,
  unreadyNotice,
} from './notices.ts';
import { citationsOf, findPassages, type FoundPassage, type Passages, type Unready } from './passages.ts';
import { concat, PromptAssembler, type History, type Offered, type Prompt } from './prompt.ts';
import { headOf, type SessionTokens } from './session-tokens.ts';
import { endOfThought, ThoughtStream } from './thoughts.ts';
import { answerStats } from './stats.ts';
import type { Stopwatch } from './stopwatch.ts';
import { runTurn, type TurnResult } from './turn.ts';
import { unsupportedIn } from './unsupported.ts';
import { wholeDocuments, type WholeRequest } from './whole-documents.ts';

export interface AnswerMakerOptions {
  store: ChunkCache;
  planner: Planner;
  retrieval: Retrieval;
  passages: Passages;
  /** Prompt prefixes that survive a restart; absent: none are read or stored. */
  prefixes?: StoredPrefixes | undefined;
  /** Logs a line about each answer. */
  log?: Pick<Logger, 'debug'> | undefined;
  /** Stores passages that an answer had to compute; absent: they are a miss again next time. */
  misses?: MissWriter | undefined;
}

/** A model and its display name. */
export interface NamedModel {
  name: string;
  model: FusionModel;
}

/** A request for one answer. */
export interface AnswerRequest extends NamedModel {
  question: string;
  /** In prompt order. */
  passages: readonly FoundPassage[];
  choices: AnswerChoices;
  /** Whether to ask the model even if no passage was found. */
  mayGuess: boolean;
  /** The text of the answer so far, to be continued. */
  begun?: string | undefined;
  /** The previous turns of a conversation. */
  history?: History | undefined;
  /** Documents in scope that cannot be searched yet; the answer does not cover them. */
  unready?: Unready;
  /** The kind of request, for the eviction policy to learn from. */
  requestClass: string;
  /** Started when the question was asked. */
  stopwatch: Stopwatch;
  /** Milliseconds of that time already spent. */
  before: { wait?: number; retrieve: number };
  signal?: AbortSignal | undefined;
  onNotice?: ((notice: Notice) => void) | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with the source of each passage's KV before the prompt is processed, and again if damaged files change it. */
  onPlaced?: ((citations: Citation[], prompt: Prompt<FoundPassage>) => void) | undefined;
  /** More thinking text before the answer, and the number of thinking tokens so far. */
  onThought?: ((text: string, tokens: number) => void) | undefined;
  /** More text of the answer. */
  onText?: ((text: string) => void) | undefined;
}

/** A request's prompt. */
export interface LaidOut {
  prompt: Prompt<FoundPassage>;
  /** Tokens of prompt and answer that the session needs room for. */
  need: number;
  /** Milliseconds spent laying it out. */
  assembleMs: number;
}

/** An answer, and how it was made. */
export interface MadeAnswer {
  text: string;
  /** The model's thinking; '' when none. Neither shown as the answer nor cited. */
  thought: string;
  /** 'aborted' when it was stopped while being written. */
  stop: TurnResult['stop'];
  citations: Citation[];
  notices: Notice[];
  stats: AnswerStats;
  prompt: Prompt<FoundPassage>;
  turn: TurnResult;
}

/** The single way to make an answer: retrieve passages, lay out the prompt, blend it, generate. */
export class AnswerMaker {
  readonly #options: AnswerMakerOptions;

  constructor(options: AnswerMakerOptions) {
    this.#options = options;
  }

  /**
   * Passages for a question, in prompt order; all documents in scope where they fit the limits in `whole`. `search`: the text to search
   * for. ABORTED.
   */
  async find(
    search: string,
    { scope, topK, signal, whole }: Parameters<Retrieval['find']>[1] & { whole?: WholeRequest },
  ): Promise<FoundPassage[]> {
    throwIfAborted(signal);
    const all = whole && wholeDocuments(scope.documentIds, whole, this.#options.passages);
    if (all) return all;
    const found = await this.#options.retrieval.find(search, { scope, topK, signal });
    throwIfAborted(signal);
    return findPassages(found.chunks, this.#options.passages);
  }

  /** NO_MATCH, DOCUMENT_WAITING, QUESTION_TOO_LONG. */
  layOut({
    model,
    question,
    passages,
    choices,
    history,
    begun,
    stopwatch,
    ...request
  }: AnswerRequest): LaidOut {
    const { contextTokens, maxTokens } = choices;
    const budget = { contextTokens, answerTokens: maxTokens };
    const assembler = new PromptAssembler(model, choices);
    const asked = assembler.assemble(question, passages, budget, history?.turns);
    const prompt = begun ? withBegun(asked, begun, model) : asked;
    if (prompt.tokens >= contextTokens) throw nothingFollows();
    if (request.unready && !request.mayGuess) requireRead(request.unready, question, passages);
    const hasPassages = prompt.parts.some(({ kind }) => kind === 'chunk') || prompt.leftOut.length > 0;
    if (!hasPassages && !request.mayGuess) {
      for (const notice of unreadyNotice(request.unready)) request.onNotice?.(notice);
      throw nothingMatches(request.unready, question);
    }
    const need = Math.min(contextTokens, prompt.tokens + maxTokens);
    return { prompt, need, assembleMs: stopwatch.lap() };
  }

  /**
   * Makes the answer in a session that its owner disposes. Call only while nobody else uses the model. ABORTED when stopped before the
   * first token, OUT_OF_MEMORY, ENGINE_FAILED.
   */
  async make(
    request: AnswerRequest,
    { prompt, assembleMs }: LaidOut,
    session: SessionTokens,
  ): Promise<MadeAnswer> {
    const { model, name, question, choices, stopwatch, signal } = request;
    const { store, planner, prefixes, log } = this.#options;
    throwIfAborted(signal);
    const before = { ...request.before, assemble: assembleMs };
    const notices: Notice[] = [];
    const tell = (...more: Notice[]): void => {
      notices.push(...more);
      for (const notice of more) request.onNotice?.(notice);
    };
    tell(...noticesOf(prompt, request));
    const { begun = '' } = request;
    let text = begun;
    let thought = '';
    const writing = new ThoughtStream(model, begun === '' ? prompt.behind : '');
    if (begun !== '') await writing.pushAll(model.tokenize(begun));
    const turn = await runTurn(prompt, session, {
      model,
      store,
      planner,
      prefixes,
      log,
      stopwatch,
      before,
      signal,
      dtype: choices.dtype,
      strategy: choices.strategy,
      requestClass: request.requestClass,
      writing,
      maxTokens: choices.maxTokens,
      sampling: choices.sampling,
      onProgress: request.onProgress,
      onDecided: (decision) => tell(...fallbackNotice(decision)),
      onPlaced: (tiers) => request.onPlaced?.(citationsOf(prompt, tiers), prompt),
      onThought: (more, tokens) => {
        thought += more;
        request.onThought?.(more, tokens);
      },
      onText: (more) => {
        text += more;
        request.onText?.(more);
      },
    });
    tell(...quarantineNotice(turn.blended.quarantined.length), ...lostNotice(turn.blended.lost.length));
    this.#options.misses?.write(model, this.#missesOf(request, prompt, turn));
    prefixes?.keep(model, headOf(prompt.parts));
    text = text.trimEnd();
    const titles = prompt.cited.map(({ chunk }) => `${chunk.passage.title} ${chunk.passage.path}`);
    const unsupported = unsupportedIn(text, prompt, model, { titles });
    return {
      text,
      thought: thought.trimEnd(),
      notices,
      prompt,
      turn,
      stop: turn.stop,
      citations: citationsOf(prompt, turn.tiers, { question, text }),
      stats: { ...answerStats({ prompt, turn, name, model }, planner.costs), unsupported },
    };
  }

  /** Passages whose KV is not stored, or only in part. A full prefill is the baseline for blending: it stores nothing. */
  #missesOf({ choices, model }: AnswerRequest, prompt: Prompt<FoundPassage>, { tiers }: TurnResult): Miss[] {
    const { dtype, storeMisses, strategy } = choices;
    if (!storeMisses || strategy.kind === 'full') return [];
    return prompt.cited
      .filter(({ chunk, part }) => tiers.get(part) !== 'resident' && chunk.passage.standsIn !== true)
      .filter(({ chunk }) => !this.#options.store.has(keyFor(model, dtype, chunk)))
      .map(({ chunk: { tokens, lead, passage } }) => ({ tokens, lead, dtype, label: passage.path }));
  }
}

/** A prompt followed by the beginning of its answer; a thought that the template opened is over. */
function withBegun<C extends Offered>(prompt: Prompt<C>, begun: string, model: FusionModel): Prompt<C> {
  const end = endOfThought(prompt.behind);
  const tokens = concat(
    end === '' ? new Int32Array(0) : model.tokenize(end, { special: true }),
    model.tokenize(begun),
  );
  const written: PromptPart = { kind: 'text', tokens, turn: prompt.parts.at(-1)?.turn ?? 0 };
  return { ...prompt, parts: [...prompt.parts, written], tokens: prompt.tokens + tokens.length };
}

/** CONFLICT when an answer cannot be continued. */
export function nothingFollows(): KvasirError {
  const message = 'This answer cannot be continued: the context is full.';
  const advice = 'Allow a larger context in Settings, or ask for the rest in a new conversation.';
  return new KvasirError('CONFLICT', message, advice);
}

/** What a reader must know before trusting the answer. */
function noticesOf(
  prompt: Prompt<FoundPassage>,
  { question, choices, history, unready }: AnswerRequest,
): Notice[] {
  const { contextTokens } = choices;
  const name = ({ passage }: FoundPassage): string => `${passage.path} (chunk ${passage.ordinal + 1})`;
  return [
    ...promptNotices(prompt, { contextTokens, name, turnsLeftOutBefore: history?.turnsLeftOut, unready }),
    ...missingNotice(question, prompt),
    ...unreadyNotice(unready),
  ];
}
