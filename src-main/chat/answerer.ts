import type { AnswerStats, Citation, ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { FusionReport } from '../../src-shared/fusion-report.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { Sampling } from '../engine/engine.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StrategyOrAuto } from '../fusion/strategy.ts';
import { keyFor, type ChunkCache, type FusionModel } from '../fusion/model.ts';
import { fusionReport } from '../fusion/report.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Clock } from '../platform/clock.ts';
import type { Retrieval } from '../retrieval/types.ts';
import { answerStats, type MadeTurn } from '../answering/stats.ts';
import { tokenTexts } from '../answering/detokenizer.ts';
import { searchText } from './follow-up.ts';
import { historyBefore, type History } from './history.ts';
import { contextLimit } from '../answering/limits.ts';
import type { LiveAnswer } from './live-answer.ts';
import type { MessageStore } from './messages.ts';
import type { Miss, MissWriter } from '../answering/miss-writer.ts';
import { fallbackNotice, promptNotices, quarantineNotice, stillReadingNotice } from '../answering/notices.ts';
import { citationsOf, findPassages, type FoundPassage, type Passages } from '../answering/passages.ts';
import { PromptAssembler, type Prompt } from '../answering/prompt.ts';
import type { MessageRecord, TurnContext } from './records.ts';
import { blendShort, warmMemory } from '../answering/warm-up.ts';
import { headOf, partsFrom, Resident } from '../answering/session-tokens.ts';
import type { ResidentSessions } from './resident-sessions.ts';
import type { Stopwatch } from '../answering/stopwatch.ts';
import { begin, runTurn, type TurnResult } from '../answering/turn.ts';

/** The model that answers, as chat needs it. */
export interface ChatModel {
  name: string;
  model: FusionModel;
}

export interface AnswererOptions {
  retrieval: Retrieval;
  passages: Passages;
  store: ChunkCache;
  messages: MessageStore;
  sessions: ResidentSessions;
  misses: MissWriter;
  planner: Planner;
  prefixes: StoredPrefixes;
  clock: Clock;
}

export interface AnswerTask {
  live: LiveAnswer;
  question: MessageRecord;
  options: ConversationOptions;
  settings: Settings;
  /** Since the question was asked. */
  stopwatch: Stopwatch;
}

/** What an answer leaves beside its text. */
export interface MadeAnswer {
  stop: TurnResult['stop'];
  citations: Citation[];
  stats: AnswerStats;
  context: TurnContext;
  report: FusionReport;
}

/** Everyday words, so that most libraries have passages for them. */
const REHEARSED = 'What is this about, and who was there first?';
const ANYWHERE = { libraryIds: [], documentIds: [] };

/** A conversation's options, and the settings where it has none. */
interface Choices {
  strategy: StrategyOrAuto;
  maxTokens: number;
  topK: number;
  contextTokens: number;
  sampling: Partial<Sampling>;
}

/** Makes one answer of a conversation: find passages, lay out the prompt, blend it, write. */
export class Answerer {
  readonly #options: AnswererOptions;

  constructor(options: AnswererOptions) {
    this.#options = options;
  }

  /** To be run while nobody else uses the model. ABORTED when stopped before the first token, QUESTION_TOO_LONG, OUT_OF_MEMORY, ENGINE_FAILED. */
  async answer({ name, model }: ChatModel, task: AnswerTask): Promise<MadeAnswer> {
    const { live, question, stopwatch, settings } = task;
    const { messages, passages, sessions, misses, planner, prefixes, store } = this.#options;
    const choices = choicesOf(task, model, planner);
    const wait = stopwatch.lap();
    const history = historyBefore(question, messages, model);
    const offered = await this.#find(task, choices, history);
    const retrieve = stopwatch.lap();
    const prompt = this.#layOut(model, task, { choices, offered, history });
    const assemble = stopwatch.lap();
    for (const notice of noticesOf(prompt, history, choices)) live.addNotice(notice);
    const unread = passages.unread(task.options.scope.libraryIds);
    if (unread > 0) live.addNotice(stillReadingNotice(unread));

    const { contextTokens, maxTokens } = choices;
    const need = Math.min(contextTokens, prompt.tokens + maxTokens);
    const wanted = { model, parts: prompt.parts, strategy: choices.strategy, need, limit: contextTokens };
    const resident = await sessions.open(live.conversationId, wanted);
    const context = contextOf(prompt, history, model);
    const turn = await runTurn(prompt, resident, {
      model,
      store,
      dtype: settings.dtype,
      strategy: choices.strategy,
      planner,
      prefixes,
      requestClass: history.turns.length > 0 ? 'follow-up' : 'question',
      maxTokens,
      sampling: choices.sampling,
      stopwatch,
      before: { wait, retrieve, assemble },
      signal: live.signal,
      onProgress: (progress) => live.progress(progress),
      onDecided: (decision) => {
        const notice = fallbackNotice(decision);
        if (notice) live.addNotice(notice);
      },
      onPlaced: (tiers) => {
        live.setCitations(citationsOf(prompt, tiers));
        messages.savePlaced(live.answerId, live.citations, context);
      },
      onText: (text) => live.addText(text),
    });
    const { quarantined } = turn.blended;
    if (quarantined.length > 0) live.addNotice(quarantineNotice(quarantined.length));
    const made = { prompt, turn, choices, name, model };
    misses.write(model, missesOf(made, settings, store));
    prefixes.keep(model, headOf(prompt.parts));
    const stats = answerStats(made, planner.costs);
    return {
      stop: turn.stop,
      citations: citationsOf(prompt, turn.tiers, { question: question.text, text: live.text }),
      stats,
      context: { ...context, answer: [...turn.answer] },
      report: this.#report(task, made, stats),
    };
  }

  /**
   * Goes through the steps of an answer without leaving one: what is compiled, opened or allocated at first use is then
   * there for the first question. No stored chunk is used; the prompt's stored beginning is brought in. False when there were no passages. ABORTED, OUT_OF_MEMORY.
   */
  async rehearse({ model }: ChatModel, settings: Settings, signal: AbortSignal): Promise<boolean> {
    const { retrieval, passages, sessions, planner, prefixes } = this.#options;
    const { topK, systemPrompt, dtype } = settings;
    const found = await retrieval.find(REHEARSED, { scope: ANYWHERE, topK, signal });
    const offered = findPassages(found.chunks, passages);
    const budget = { contextTokens: contextLimit(model, settings.contextTokens), answerTokens: 1 };
    const prompt = new PromptAssembler(model, systemPrompt).assemble(REHEARSED, offered, budget);
    const resident = new Resident(sessions.borrow(model, prompt.tokens + 1));
    try {
      const { session } = resident;
      const { prefixTokens } = await begin(resident, prompt.parts, { model, prefixes });
      const rest = partsFrom(prompt.parts, prefixTokens);
      const strategy = planner.resolve(model, settings.strategy);
      const { decision } = planner.plan(rest, { model, dtype, past: prefixTokens, strategy });
      await warmMemory(session, prompt.tokens, signal);
      await blendShort(rest, { model, session, dtype, strategy: decision.strategy, signal });
    } finally {
      resident.dispose();
    }
    return offered.length > 0;
  }

  async #find(
    { live, question, options }: AnswerTask,
    { topK }: Choices,
    { turns }: History,
  ): Promise<FoundPassage[]> {
    const { retrieval, passages } = this.#options;
    throwIfAborted(live.signal);
    const { scope } = options;
    const text = searchText(question.text, turns.at(-1)?.question);
    const found = await retrieval.find(text, { scope, topK, signal: live.signal });
    throwIfAborted(live.signal);
    return findPassages(found.chunks, passages);
  }

  #layOut(
    model: FusionModel,
    { question, settings }: AnswerTask,
    parts: { choices: Choices; offered: FoundPassage[]; history: History },
  ): Prompt<FoundPassage> {
    const { contextTokens, maxTokens } = parts.choices;
    const assembler = new PromptAssembler(model, settings.systemPrompt);
    const budget = { contextTokens, answerTokens: maxTokens };
    return assembler.assemble(question.text, parts.offered, budget, parts.history.turns);
  }

  #report({ live, question, settings }: AnswerTask, made: Made, stats: AnswerStats): FusionReport {
    const { turn, model } = made;
    const reused = turn.blended.reuse.values();
    const appended = turn.appended.map(({ kind, tokens, source }) => {
      const reuse = kind === 'chunk' ? reused.next().value : undefined;
      return { kind, tokens, source, reuse };
    });
    return fusionReport({
      answerId: String(live.answerId),
      question: question.text,
      model: made.name,
      layerCount: model.info.layers,
      tokenTexts: (tokens) => tokenTexts(tokens, (ids) => model.detokenize(ids, { special: true })),
      tokenBytes: model.bytesPerToken(settings.dtype),
      strategy: stats.strategy,
      dtype: settings.dtype,
      ttftMs: stats.ttftMs,
      fullPrefillMs: stats.fullPrefillMs,
      fullPrefillMeasured: stats.fullPrefillMeasured,
      residentTokens: turn.residentTokens,
      prefixTokens: turn.prefixTokens,
      restoredTokens: turn.restoredTokens,
      appended,
      append: turn.blended.report,
      plan: turn.plan,
    });
  }
}

type Made = MadeTurn<FoundPassage> & { choices: Choices };

function choicesOf({ options, settings }: AnswerTask, model: FusionModel, planner: Planner): Choices {
  const temperature = options.temperature ?? settings.temperature;
  return {
    strategy: planner.resolve(model, options.strategy ?? settings.strategy),
    maxTokens: options.maxTokens ?? settings.maxTokens,
    topK: options.topK ?? settings.topK,
    contextTokens: contextLimit(model, settings.contextTokens),
    sampling: { temperature, seed: Math.floor(Math.random() * 2 ** 32) },
  };
}

function noticesOf(prompt: Prompt<FoundPassage>, history: History, { contextTokens }: Choices) {
  const name = ({ passage }: FoundPassage): string => `${passage.path} (part ${passage.ordinal + 1})`;
  return promptNotices(prompt, { contextTokens, name, turnsLeftOutBefore: history.turnsLeftOut });
}

function contextOf(prompt: Prompt<FoundPassage>, history: History, { info }: FusionModel): TurnContext {
  const lastTurn = prompt.parts.at(-1)?.turn;
  const chunks = prompt.cited.flatMap(({ chunk, part }, citation) =>
    prompt.parts[part]?.turn === lastTurn ? [{ citation, tokens: [...chunk.tokens] }] : [],
  );
  const turnsLeftOut = history.turnsLeftOut + prompt.turnsLeftOut;
  return { fingerprint: info.fingerprint, turnsLeftOut, chunks, answer: null };
}

/**
 * Passages whose own KV is not stored, found in part or not at all. A full prefill is the baseline that blending is compared
 * with: it leaves no trace.
 */
function missesOf(
  { prompt, turn, choices, model }: Made,
  { dtype, storeMisses }: Settings,
  store: ChunkCache,
): Miss[] {
  if (!storeMisses || choices.strategy.kind === 'full') return [];
  return prompt.cited
    .filter(({ part }) => turn.tiers.get(part) !== 'resident')
    .filter(({ chunk }) => !store.has(keyFor(model, dtype, chunk.tokens)))
    .map(({ chunk: { tokens, passage } }) => ({ tokens, dtype, label: passage.path }));
}
