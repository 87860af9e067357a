import type { ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { FusionReport } from '../../src-shared/fusion-report.ts';
import type { Settings } from '../../src-shared/settings.ts';
import {
  AnswerMaker,
  nothingFollows,
  type AnswerRequest,
  type AnswerMakerOptions,
  type MadeAnswer,
  type NamedModel,
} from '../answering/answer.ts';
import { choicesOf } from '../answering/choices.ts';
import type { FoundPassage } from '../answering/passages.ts';
import type { History, Offered, Prompt } from '../answering/prompt.ts';
import { answerReport } from '../answering/report.ts';
import type { SessionTokens } from '../answering/session-tokens.ts';
import type { Stopwatch } from '../answering/stopwatch.ts';
import { isRemote, type FusionModel } from '../fusion/model.ts';
import { ThoughtStream } from '../answering/thoughts.ts';
import { runTurn, type TurnResult } from '../answering/turn.ts';
import { unsupportedIn } from '../answering/unsupported.ts';
import type { PromptPart } from '../fusion/blender.ts';
import { answerPrompt } from './answer-prompt.ts';
import { searchText } from '../answering/follow-up.ts';
import { historyBefore } from './history.ts';
import type { LiveAnswer } from './live-answer.ts';
import type { AnswerEnd, MessageStore } from './messages.ts';
import type { MessageRecord, TurnContext } from './records.ts';
import type { ConversationSessions } from './sessions.ts';

interface AnswererOptions extends AnswerMakerOptions {
  messages: MessageStore;
  sessions: ConversationSessions;
}

interface AnswerTask {
  live: LiveAnswer;
  question: MessageRecord;
  options: ConversationOptions;
  settings: Settings;
  /** Whether to ask the model even if no passage was found. */
  mayGuess: boolean;
  /** Whether the answer should differ from an earlier one that repeated itself. */
  variety: boolean;
  /** Started when the question was asked. */
  stopwatch: Stopwatch;
}

/** An answer, and the data that its conversation stores. */
export interface ConversationAnswer {
  made: MadeAnswer;
  context: TurnContext;
  /** undefined for a remote model: its processing is unknown. */
  report: FusionReport | undefined;
}

interface ContinueTask extends Omit<AnswerTask, 'question' | 'mayGuess' | 'variety'> {
  answer: MessageRecord;
}

/** Makes the answers of conversations, in the session that holds the earlier turns, and streams them to windows. */
export class Answerer {
  readonly #options: AnswererOptions;
  readonly #maker: AnswerMaker;

  constructor(options: AnswererOptions) {
    this.#options = options;
    this.#maker = new AnswerMaker(options);
  }

  /** As AnswerMaker.make. */
  async answer(active: NamedModel, task: AnswerTask): Promise<ConversationAnswer> {
    const { live, question, stopwatch } = task;
    const { messages, sessions, passages, planner } = this.#options;
    const { model } = active;
    const { scope, ...asked } = task.options;
    const { variety } = task;
    const choices = choicesOf({ ...asked, variety }, task.settings, model, planner);
    const wait = stopwatch.lap();
    const history = historyBefore(question, messages, model);
    const text = searchText(question.text, history.turns.at(-1)?.question);
    const whole = { model, question: question.text, choices };
    const found = await this.#maker.find(text, { scope, topK: choices.topK, signal: live.signal, whole });
    const retrieve = stopwatch.lap();
    const { systemPrompt, think } = choices;
    const context = (prompt: Prompt<FoundPassage>): TurnContext => ({
      ...contextOf(prompt, history, model),
      systemPrompt,
      think,
    });
    const request: AnswerRequest = {
      ...active,
      question: question.text,
      passages: found,
      choices,
      mayGuess: task.mayGuess,
      history,
      stopwatch,
      unready: passages.unready(scope, text),
      requestClass: history.turns.length > 0 ? 'follow-up' : 'question',
      before: { wait, retrieve },
      signal: live.signal,
      onNotice: (notice) => live.addNotice(notice),
      onProgress: (progress) => live.progress(progress),
      onPlaced: (citations, prompt) => {
        live.setCitations(citations);
        messages.savePlaced(live.answerId, citations, context(prompt));
      },
      onThought: (more, tokens) => live.addThought(more, tokens),
      onText: (more) => live.addText(more),
    };
    const laidOut = this.#maker.layOut(request);
    const session = await sessions.open(live.conversationId, {
      model,
      parts: laidOut.prompt.parts,
      need: laidOut.need,
      strategy: choices.strategy,
      limit: choices.contextTokens,
    });
    const made = await this.#maker.make(request, laidOut, session);
    const { answer, tokensBefore } = made.turn;
    if (made.thought !== '') forgetThought(session, made.prompt, made.turn);
    return {
      made,
      context: { ...context(made.prompt), answer: [...answer], tokensBefore },
      report: isRemote(model) ? undefined : await answerReport(String(live.answerId), made, request),
    };
  }

  /**
   * Continues an answer: its prompt is laid out as before, followed by the text so far, most of which is usually still in the session. The
   * time to first token stays that of the first part. CONFLICT when that is no longer possible, or nothing more fits; else as answer().
   */
  async continue({ model }: NamedModel, task: ContinueTask): Promise<AnswerEnd> {
    const { live, answer, settings, stopwatch } = task;
    const { messages, sessions, planner, store, prefixes, log } = this.#options;
    const before = { wait: stopwatch.lap(), retrieve: 0 };
    const { prompt, stats, context } = answerPrompt(answer, model, messages, settings);
    const choices = choicesOf(task.options, settings, model, planner);
    const { dtype, strategy, sampling, maxTokens, contextTokens: limit } = choices;
    const begun = Int32Array.from(context.answer ?? []);
    const tokens = prompt.tokens + begun.length;
    if (tokens >= limit) throw nothingFollows();
    const written: PromptPart = { kind: 'text', tokens: begun, turn: prompt.parts.at(-1)?.turn ?? 0 };
    const whole = { ...prompt, tokens, parts: [...prompt.parts, written] };
    const writing = new ThoughtStream(model, prompt.behind);
    live.restore(await writing.pushAll(begun));
    const need = Math.min(limit, tokens + maxTokens);
    const session = await sessions.open(live.conversationId, {
      model,
      parts: whole.parts,
      need,
      strategy,
      limit,
    });
    const turn = await runTurn(whole, session, {
      model,
      store,
      planner,
      prefixes,
      log,
      stopwatch,
      dtype,
      strategy,
      sampling,
      maxTokens,
      writing,
      before: { ...before, assemble: stopwatch.lap() },
      requestClass: 'follow-up',
      signal: live.signal,
      onProgress: (progress) => live.progress(progress),
      onThought: (more, tokens) => live.addThought(more, tokens),
      onText: (more) => live.addText(more),
    });
    if (live.thinking) forgetThought(session, prompt, turn);
    const { stop, tokensBefore } = turn;
    // A run of a single token has no measurable speed.
    const { tokensPerSecond } = turn.answer.length > 1 ? turn : stats;
    const all = [...begun, ...turn.answer];
    const titles = answer.citations.map(({ title, path }) => `${title} ${path}`);
    const unsupported = unsupportedIn(live.written.text, prompt, model, { titles });
    return {
      ...live.written,
      state: stop === 'aborted' ? 'stopped' : 'done',
      failure: null,
      citations: answer.citations,
      notices: live.notices,
      stats: { ...stats, stop, tokensPerSecond, unsupported, answerTokens: all.length },
      context: { ...context, answer: all, tokensBefore },
    };
  }
}

/** Later turns follow only the answer: its thought is dropped immediately, unless the answer may be continued. */
function forgetThought(session: SessionTokens, { tokens }: Prompt<Offered>, { stop }: TurnResult): void {
  if (stop === 'eos') session.truncate(tokens);
}

function contextOf(prompt: Prompt<FoundPassage>, history: History, { info }: FusionModel): TurnContext {
  const lastTurn = prompt.parts.at(-1)?.turn;
  const chunks = prompt.cited.flatMap(({ chunk, part }, citation) =>
    prompt.parts[part]?.turn === lastTurn
      ? [{ citation, tokens: [...chunk.tokens], lead: [...(chunk.lead ?? [])] }]
      : [],
  );
  const turnsLeftOut = history.turnsLeftOut + prompt.turnsLeftOut;
  return { fingerprint: info.fingerprint, turnsLeftOut, chunks, answer: null, tokensBefore: 0 };
}
