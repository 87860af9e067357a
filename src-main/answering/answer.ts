import type { Notice } from '../../src-shared/answer.ts';
import type { AnswerStats, Citation } from '../../src-shared/contract/chat.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Retrieval } from '../retrieval/types.ts';
import type { Ask } from './ask.ts';
import { backendOf } from './backends/backend-of.ts';
import type { AnswerEvent, AnswerParts, Turn } from './backends/backend.ts';
import { AnswerCiter } from './citing/answer-citer.ts';
import { chooseContext, type ChosenContext, type ContextRequest } from './context/choose-context.ts';
import { documentShares } from './document-shares.ts';
import { noticesOf, nothingMatches, requireRead, unreadyNotice } from './notices.ts';
import { citationsOf, findPassages, type FoundPassage, type Passages } from './passages.ts';
import type { Prompt, PromptRequest } from './prompt.ts';
import type { NamedModel } from './named-model.ts';
import { PassageOrders } from './passage-orders.ts';
import { firstPassages, SessionTokens } from './session-tokens.ts';
import { Stopwatch } from './stopwatch.ts';
import { computedPassage, type Tables } from './tables/computed-passage.ts';
import { takeSteps } from './tools/steps.ts';
import { unsupportedIn } from './unsupported.ts';

export interface AnswerMakerOptions extends AnswerParts {
  retrieval: Retrieval;
  passages: Passages;
  /** Tables that questions are computed over; absent: none are. */
  tables?: Tables | undefined;
  /** A session for the statement over them; disposed here. OUT_OF_MEMORY. */
  openSession?: ((model: FusionModel, capacity: number) => FusionSession) | undefined;
}

/** What a computation over tables needs of a question. */
interface TableQuestion extends NamedModel, Pick<Ask, 'question' | 'choices' | 'stopwatch'> {
  signal: AbortSignal;
}

/** An answer, and how it was made. */
export interface Answer extends Omit<Turn, 'stats'> {
  citations: Citation[];
  notices: Notice[];
  stats: AnswerStats;
  prompt: Prompt;
  /** Thought and text with the white space at their ends, which an answer continues after. */
  written: { thought: string; text: string };
}

interface AnswerDone {
  kind: 'done';
  answer: Answer;
}

/** Tells the events of an answer as they come, and resolves with the answer. */
export async function readAnswer(
  events: AsyncIterable<AnswerEvent | AnswerDone>,
  tell: (event: AnswerEvent) => void,
): Promise<Answer> {
  for await (const event of events) {
    if (event.kind === 'done') return event.answer;
    tell(event);
  }
  throw new Error('an answer ended without its last event');
}

/** A follow-up whose rewriting takes longer is searched with the words of earlier questions. */
const LONGEST_REWRITING_MS = 5000;

/** The single way to make an answer: retrieve passages, lay out the prompt, process it, generate. */
export class AnswerMaker {
  readonly #options: AnswerMakerOptions;
  readonly #orders = new PassageOrders();

  constructor(options: AnswerMakerOptions) {
    this.#options = options;
  }

  /** Passages found for a question, in prompt order. ABORTED. */
  async find(
    search: string,
    { scope, topK, signal }: Parameters<Retrieval['find']>[1],
  ): Promise<FoundPassage[]> {
    throwIfAborted(signal);
    const found = await this.#options.retrieval.find(search, { scope, topK, signal });
    throwIfAborted(signal);
    return findPassages(found.chunks, this.#options.passages);
  }

  /**
   * What a question reads. `asked`: for a model to rewrite a follow-up, call within the gate then; absent: it is not rewritten. ABORTED.
   */
  choose(request: ContextRequest, asked?: Omit<TableQuestion, 'question'>): Promise<ChosenContext> {
    const write =
      asked &&
      ((prompt: string, grammar: string) => {
        const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(LONGEST_REWRITING_MS)]);
        return this.#write({ ...asked, signal }, prompt, grammar);
      });
    const onFailed = (error: unknown): void =>
      this.#options.log?.debug('follow-up-not-rewritten', { error: String(error) });
    return chooseContext(request, { ...this.#options, write, onFailed });
  }

  /**
   * Passages, after what a statement over the table that they are about returned, where the question asks for that. Call within the gate, as
   * `answer`. ABORTED.
   */
  async compute(found: FoundPassage[], { question, ...asked }: TableQuestion): Promise<FoundPassage[]> {
    const { tables, log } = this.#options;
    if (!tables) return found;
    const write = (prompt: string, grammar: string): Promise<string> => this.#write(asked, prompt, grammar);
    const onFailed = (error: unknown): void => log?.debug('table-not-computed', { error: String(error) });
    const { model, signal } = asked;
    const computed = await computedPassage({ question, found, model, signal }, { tables, write, onFailed });
    return computed ? [computed, ...found] : found;
  }

  /** An answer in a separate session. ABORTED. */
  async #write(asked: Omit<TableQuestion, 'question'>, prompt: string, grammar: string): Promise<string> {
    let session: SessionTokens | undefined;
    const openSession: Ask['openSession'] = ({ model, need }) => {
      if (!this.#options.openSession) throw new Error('no sessions for statements');
      return (session = new SessionTokens(this.#options.openSession(model, need)));
    };
    try {
      const ask = { ...statementAsk(asked, prompt, grammar), openSession };
      const { text } = await readAnswer(this.answer(ask), () => undefined);
      throwIfAborted(asked.signal); // a part of it is of no use
      return text;
    } finally {
      session?.dispose();
    }
  }

  #promptRequest({ model, form, reserve, tools, choices, ...ask }: Ask): PromptRequest {
    const { think, contextTokens } = choices;
    const arranges = isExact(model) && form === 'conversation';
    const messages = arranges ? this.#orders.arrangeIn(model, ask.messages) : ask.messages;
    return { messages, form, reserve, think, contextTokens, tools };
  }

  /**
   * Makes an answer; the last event has all of it. Call within the gate, which keeps the model loaded. A reader that stops early ends the answer. NO_MATCH,
   * DOCUMENT_WAITING, CONFLICT where nothing more fits, ABORTED when stopped before the first token, and the errors of Backend.
   */
  async *answer(ask: Ask): AsyncGenerator<AnswerEvent | AnswerDone, void, void> {
    const { model, name, question } = ask;
    throwIfAborted(ask.signal);
    const backend = backendOf(model);
    const prompt = backend.layOut(this.#promptRequest(ask));
    const mayFind = ask.runCalls !== undefined;
    const all = noticesOf(ask, prompt);
    // Tools may find what passages lack.
    const later = mayFind ? all.filter(({ kind }) => kind === 'no-match') : [];
    const notices = all.filter((notice) => !later.includes(notice));
    const isEmpty = !prompt.parts.some(({ kind }) => kind === 'chunk') && prompt.leftOut.length === 0;
    if (!ask.mayGuess) {
      requireRead(ask, [...prompt.cited.map(({ chunk }) => chunk), ...prompt.leftOut]);
      if (isEmpty && !mayFind) notices.splice(0, notices.length, ...unreadyNotice(ask.unready));
    }
    for (const notice of notices) yield { kind: 'notice', notice };
    if (isEmpty && !ask.mayGuess && !mayFind) throw nothingMatches(ask.unready, question);
    const cited = ask.begun?.citations ?? citationsOf(prompt, new Map());
    // Other programs' answers are cited up to their stop texts, in completions.
    const citer =
      ask.form === 'conversation' && ask.question !== '' && cited.length > 0
        ? new AnswerCiter({ passages: cited, question, complete: isComplete(prompt, cited) })
        : undefined;
    const steps = takeSteps(ask, prompt, backend, this.#options);
    const { stats, read, steps: count, ...turn } = yield* withSentences(steps, citer);
    if (count === 1) for (const notice of later) yield { kind: 'notice', notice };
    const text = ask.raw ? turn.text : turn.text.trimEnd();
    const sentences = citer?.sentences;
    if (isExact(model)) this.#orders.add(model, firstPassages(turn.local?.prompt.parts ?? []));
    const answer: Answer = {
      ...turn,
      text,
      thought: turn.thought.trimEnd(),
      written: { thought: turn.thought, text: turn.text },
      prompt,
      notices: [...notices, ...(count === 1 ? later : []), ...turn.notices],
      citations: citationsOf(prompt, turn.tiers, sentences),
      stats: {
        ...{ ...stats, stop: turn.stop, model: name },
        unsupported: unsupportedIn(text, read, backend),
        sentences,
        documents: documentShares(prompt, this.#options.passages),
      },
    };
    this.#options.log?.debug('answer', logLine(ask, answer));
    yield { kind: 'done', answer };
  }
}

/** Whether a model that runs here continues prompts exactly or not at all. */
function isExact({ info }: NamedModel['model']): boolean {
  return info.engine === 'llama';
}

/** Whether a prompt has no passage besides these. */
function isComplete({ parts }: Prompt, cited: readonly Citation[]): boolean {
  return parts.filter(({ kind }) => kind === 'chunk').length <= cited.length;
}

/** The events of a turn, with each sentence of its answer when it ends. */
async function* withSentences<T extends Turn>(
  events: AsyncGenerator<AnswerEvent, T, void>,
  citer: AnswerCiter | undefined,
): AsyncGenerator<AnswerEvent, T, void> {
  if (!citer) return yield* events;
  const ended = (more: ReturnType<AnswerCiter['push']>) =>
    more.sentences.map((sentence) => ({ kind: 'sentence', sentence }) as const);
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) {
        yield* ended(citer.flush());
        return next.value;
      }
      yield next.value;
      if (next.value.kind === 'begun') citer.push(next.value.written.answer);
      if (next.value.kind === 'text') yield* ended(citer.push(next.value.text));
    }
  } finally {
    // A reader that stops early ends the turn.
    await events.return(undefined as never);
  }
}

const STATEMENT_TOKENS = 200;

function statementAsk(
  { choices, stopwatch: { clock }, ...asked }: Omit<TableQuestion, 'question'>,
  prompt: string,
  grammar: string,
): Omit<Ask, 'openSession'> {
  const raw = backendOf(asked.model).takesGrammar;
  const sampling = { temperature: 0, repeatPenalty: 1, ...(raw && { grammar }) };
  return {
    ...asked,
    messages: [{ role: 'user', pieces: [prompt] }],
    form: 'messages',
    reserve: STATEMENT_TOKENS,
    choices: { ...choices, strategy: { kind: 'full' }, think: false, maxTokens: STATEMENT_TOKENS, sampling },
    question: '',
    mayGuess: true,
    raw,
    requestClass: 'tables',
    stopwatch: new Stopwatch(clock),
    before: { retrieve: 0 },
  };
}

/** The log entry of an answer: it contains no text from documents or people. */
function logLine(
  { requestClass }: Ask,
  { stats, figures, local, stop, tiers }: Answer,
): Record<string, unknown> {
  const { ttftMs, tokensPerSecond, answerTokens, drafts, strategy } = stats;
  return {
    requestClass,
    strategy: local?.decision.strategy.kind ?? strategy.name,
    reason: local?.decision.reason,
    ...figures,
    tiers: countsOf(tiers.values()),
    promptMs: local && Math.round(local.blended.report.totalMs),
    ttftMs: Math.round(ttftMs.total),
    answerTokens,
    ...drafts,
    tokensPerSecond: Math.round(tokensPerSecond * 10) / 10,
    stop,
  };
}

function countsOf(tiers: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const tier of tiers) counts[tier] = (counts[tier] ?? 0) + 1;
  return counts;
}
