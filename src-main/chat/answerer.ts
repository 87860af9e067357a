import type { ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { FusionReport } from '../../src-shared/fusion-report.ts';
import type { Settings } from '../../src-shared/settings.ts';
import {
  AnswerMaker,
  type AnswerRequest,
  type AnswerMakerOptions,
  type MadeAnswer,
  type NamedModel,
} from '../answering/answer.ts';
import { choicesOf } from '../answering/choices.ts';
import type { FoundPassage } from '../answering/passages.ts';
import type { History, Prompt } from '../answering/prompt.ts';
import { answerReport } from '../answering/report.ts';
import type { Stopwatch } from '../answering/stopwatch.ts';
import type { FusionModel } from '../fusion/model.ts';
import { searchText } from './follow-up.ts';
import { historyBefore } from './history.ts';
import type { LiveAnswer } from './live-answer.ts';
import type { MessageStore } from './messages.ts';
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
  /** Since the question was asked. */
  stopwatch: Stopwatch;
}

/** An answer, and what its conversation keeps of it. */
export interface ConversationAnswer {
  made: MadeAnswer;
  context: TurnContext;
  report: FusionReport;
}

/** Makes the answers of conversations: in the session that holds the turns before, told to windows as they come. */
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
    const choices = choicesOf(asked, task.settings, model, planner);
    const wait = stopwatch.lap();
    const history = historyBefore(question, messages, model);
    const text = searchText(question.text, history.turns.at(-1)?.question);
    const found = await this.#maker.find(text, { scope, topK: choices.topK, signal: live.signal });
    const retrieve = stopwatch.lap();
    const context = (prompt: Prompt<FoundPassage>): TurnContext => contextOf(prompt, history, model);
    const request: AnswerRequest = {
      ...active,
      question: question.text,
      passages: found,
      choices,
      history,
      stopwatch,
      unready: passages.unready(scope.libraryIds),
      requestClass: history.turns.length > 0 ? 'follow-up' : 'question',
      before: { wait, retrieve },
      signal: live.signal,
      onNotice: (notice) => live.addNotice(notice),
      onProgress: (progress) => live.progress(progress),
      onPlaced: (citations, prompt) => {
        live.setCitations(citations);
        messages.savePlaced(live.answerId, citations, context(prompt));
      },
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
    return {
      made,
      context: { ...context(made.prompt), answer: [...made.turn.answer] },
      report: answerReport(String(live.answerId), made, request),
    };
  }
}

function contextOf(prompt: Prompt<FoundPassage>, history: History, { info }: FusionModel): TurnContext {
  const lastTurn = prompt.parts.at(-1)?.turn;
  const chunks = prompt.cited.flatMap(({ chunk, part }, citation) =>
    prompt.parts[part]?.turn === lastTurn ? [{ citation, tokens: [...chunk.tokens] }] : [],
  );
  const turnsLeftOut = history.turnsLeftOut + prompt.turnsLeftOut;
  return { fingerprint: info.fingerprint, turnsLeftOut, chunks, answer: null };
}
