import type { ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { Scope } from '../../src-shared/contract/search.ts';
import type { FusionReport } from '../../src-shared/fusion-report.ts';
import type { Settings } from '../../src-shared/settings.ts';
import { withoutFilters } from '../../src-shared/search-filters.ts';
import { readAnswer, type AnswerMaker, type Answer, type AnswerMakerOptions } from '../answering/answer.ts';
import { conversation, type Ask } from '../answering/ask.ts';
import type { NamedModel } from '../answering/named-model.ts';
import { noToolsNotice } from '../answering/notices.ts';
import type { ToolRequest } from '../answering/tools.ts';
import { usableTools } from '../answering/tools/usable-tools.ts';
import type { AnswerEvent } from '../answering/backends/backend.ts';
import { choicesOf, type AnswerChoices } from '../answering/choices.ts';
import type { Prompt } from '../answering/prompt.ts';
import { conversationContext } from '../answering/context/conversation-context.ts';
import { answerReport } from '../answering/report.ts';
import type { SessionTokens } from '../answering/session-tokens.ts';
import type { Stopwatch } from '../answering/stopwatch.ts';
import type { Clock } from '../platform/clock.ts';
import type { Core } from '../platform/core.ts';
import { CallRunner } from './call-runner.ts';
import type { OfferedTools } from './conversation-tools.ts';
import { answerPrompt } from './answer-prompt.ts';
import { historyBefore } from './history.ts';
import type { LiveAnswer } from './live-answer.ts';
import type { AnswerEnd, MessageStore } from './messages.ts';
import type { MessageRecord, TurnContext } from './records.ts';
import type { ConversationSessions } from './sessions.ts';

interface AnswererOptions extends Pick<AnswerMakerOptions, 'passages' | 'planner'>, Pick<Core, 'log'> {
  maker: AnswerMaker;
  messages: MessageStore;
  sessions: ConversationSessions;
  clock: Clock;
}

interface ContinueTask {
  live: LiveAnswer;
  answer: MessageRecord;
  options: ConversationOptions;
  settings: Settings;
  /** Started when it was asked for. */
  stopwatch: Stopwatch;
}

interface AnswerTask extends Omit<ContinueTask, 'answer'> {
  question: MessageRecord;
  /** Of the conversation's project, for the system prompt; '' if there are none. */
  instructions: string;
  /** Whether to ask the model even if no passage was found. */
  mayGuess: boolean;
  /** Whether the answer should differ from an earlier one that repeated itself. */
  variety: boolean;
  /** What it may call. */
  offered: OfferedTools;
  /** Runs work while others may use the model. */
  pause: <T>(work: () => Promise<T>) => Promise<T>;
}

/** How an answer ended, and how a model that runs here made it. */
export interface ConversationAnswer {
  end: AnswerEnd;
  report?: FusionReport | undefined;
}

/** Makes the answers of conversations, in the session that holds the earlier turns, and streams them to windows. */
export class Answerer {
  readonly #options: AnswererOptions;
  readonly #maker: AnswerMaker;

  constructor(options: AnswererOptions) {
    this.#options = options;
    this.#maker = options.maker;
  }

  /** As AnswerMaker.answer. */
  async answer(active: NamedModel, task: AnswerTask): Promise<ConversationAnswer> {
    const { live, question, stopwatch, settings, instructions, variety } = task;
    const { messages, passages, planner } = this.#options;
    const { model } = active;
    const { scope, ...own } = task.options;
    const chosenFor = choicesOf({ ...own, instructions, variety }, settings, model, planner);
    const tools = this.#toolsFor(active, chosenFor, task);
    const choices = { ...chosenFor, tools };
    const wait = stopwatch.lap();
    const { turns, turnsLeftOut } = historyBefore(question, messages, model);
    const { signal } = live;
    const asked = { ...active, choices, stopwatch, signal };
    const request = conversationContext({ model, question: question.text, scope, choices, signal }, turns);
    const chosen = await this.#maker.choose(request, asked);
    const found = await this.#maker.compute(chosen.passages, { ...asked, question: chosen.search });
    const { systemPrompt, think } = choices;
    const { fingerprint } = model.info;
    const context = (prompt: Prompt): TurnContext => ({
      ...{ fingerprint, systemPrompt, think, tools: tools?.tools },
      turnsLeftOut: turnsLeftOut + prompt.turnsLeftOut,
      chunks: chunksOf(prompt),
      answer: null,
      tokensBefore: 0,
    });
    const ask: Omit<Ask, 'openSession'> = {
      ...active,
      ...conversation(question.text, found, choices, turns),
      choices,
      stopwatch,
      turnsLeftOut,
      question: withoutFilters(question.text),
      mayGuess: task.mayGuess,
      runCalls: tools && this.#runner(active, task, scope),
      chosen: chosen.notices,
      unready: passages.unready(scope, chosen.search),
      requestClass: turns.length > 0 ? 'follow-up' : 'question',
      before: { wait, retrieve: stopwatch.lap() },
      signal: live.signal,
    };
    const made = await this.#make(ask, live, (event) => {
      if (event.kind === 'notice') live.addNotice(event.notice);
      if (event.kind !== 'placed') return;
      live.setCitations(event.citations);
      messages.savePlaced(live.answerId, event.citations, context(event.prompt));
    });
    const { citations, stats, local } = made;
    return {
      end: { ...endOf(live, made), citations, stats, context: contextAfter(context(made.prompt), made) },
      report: local && (await answerReport(String(live.answerId), ask, made, local)),
    };
  }

  /**
   * Continues an answer: its prompt is laid out as before, followed by the text so far, most of which is usually still in the session. The
   * time to first token stays that of the first part. CONFLICT when that is no longer possible, or nothing more fits; else as answer().
   */
  async continue(active: NamedModel, task: ContinueTask): Promise<ConversationAnswer> {
    const { live, answer, settings, stopwatch } = task;
    const { messages, planner } = this.#options;
    const wait = stopwatch.lap();
    const { request, question, stats, context } = answerPrompt(answer, active.model, messages, settings);
    const begun = {
      citations: answer.citations,
      tokens: context.written ? undefined : Int32Array.from(context.answer ?? []),
      text: context.written?.text ?? answer.text,
      thought: context.written?.thought ?? answer.thinking?.text,
    };
    const ask: Omit<Ask, 'openSession'> = {
      ...active,
      ...request,
      choices: choicesOf(task.options, settings, active.model, planner),
      begun,
      question,
      stopwatch,
      mayGuess: true,
      requestClass: 'follow-up',
      before: { wait, retrieve: 0 },
      signal: live.signal,
    };
    const made = await this.#make(ask, live, (event) => {
      if (event.kind === 'begun') live.restore(event.written);
    });
    const { stats: now } = made;
    const answerTokens = (begun.tokens?.length ?? stats.answerTokens) + now.answerTokens;
    // A run of a single token has no measurable speed.
    const { tokensPerSecond, drafts } = now.answerTokens > 1 ? now : stats;
    const { stop, unsupported, sentences } = now;
    return {
      end: {
        ...endOf(live, made),
        citations: answer.citations,
        stats: { ...stats, stop, unsupported, sentences, tokensPerSecond, drafts, answerTokens },
        context: contextAfter({ ...context, answer: null }, made, begun.tokens),
      },
    };
  }

  /** The request of the tools; a notice where the model has none. */
  #toolsFor(
    active: NamedModel,
    { think }: AnswerChoices,
    { live, offered }: AnswerTask,
  ): ToolRequest | undefined {
    const request = usableTools(active, offered.tools, think);
    if (!request && offered.tools.length > 0) live.addNotice(noToolsNotice(active.name));
    return request;
  }

  #runner({ model }: NamedModel, { live, offered, pause }: AnswerTask, scope: Scope): Ask['runCalls'] {
    const { clock, log } = this.#options;
    return new CallRunner({ live, offered, pause, scope, model, clock, log }).run;
  }

  async #make(
    ask: Omit<Ask, 'openSession'>,
    live: LiveAnswer,
    tell: (event: AnswerEvent) => void,
  ): Promise<Answer> {
    const { strategy, contextTokens: limit } = ask.choices;
    let session: SessionTokens | undefined;
    const openSession: Ask['openSession'] = async (wanted) => {
      session = await this.#options.sessions.open(live.conversationId, { ...wanted, strategy, limit });
      return session;
    };
    const made = await readAnswer(this.#maker.answer({ ...ask, openSession }), (event) => {
      if (event.kind === 'progress') live.progress(event.progress);
      else if (event.kind === 'thought') live.addThought(event.text, event.tokens);
      else if (event.kind === 'text') live.addText(event.text);
      else if (event.kind === 'sentence') live.addSentence(event.sentence);
      else tell(event);
    });
    // Later turns follow only the answer: its thought is dropped immediately, unless the answer may be continued.
    if (live.thinking && made.stop === 'eos') session?.truncate(made.prompt.tokens);
    return made;
  }
}

function endOf(live: LiveAnswer, { stop }: Answer): Omit<AnswerEnd, 'citations' | 'stats' | 'context'> {
  const { written, notices } = live;
  return { ...written, notices, state: stop === 'aborted' ? 'stopped' : 'done', failure: null };
}

/** The tokens of the passages that the last turn of a prompt placed. */
function chunksOf({ parts, cited }: Prompt): TurnContext['chunks'] {
  const lastTurn = parts.at(-1)?.turn;
  return cited.flatMap(({ chunk: { tokens, lead }, part }, citation) =>
    parts[part]?.turn === lastTurn ? [{ citation, tokens: [...tokens], lead: [...(lead ?? [])] }] : [],
  );
}

function contextAfter(
  context: TurnContext,
  { local, answer, tokensBefore, written }: Answer,
  begun: Int32Array = new Int32Array(0),
): TurnContext {
  if (!local) return { ...context, answer: [], tokensBefore: 0, written };
  return { ...context, answer: [...begun, ...answer], tokensBefore };
}
