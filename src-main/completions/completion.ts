import type { Citation, CitedSentence } from '../../src-shared/contract/chat.ts';
import { readAnswer, type Answer, type AnswerMaker } from '../answering/answer.ts';
import type { Ask } from '../answering/ask.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import type { TokenLogprobs } from '../answering/backends/backend.ts';
import { AnswerCiter, type CitedText } from '../answering/citing/answer-citer.ts';
import { endingNotices } from '../answering/notices.ts';
import { citationsOf } from '../answering/passages.ts';
import { passingAnswer } from '../answering/recompute-prompt.ts';
import { SessionTokens } from '../answering/session-tokens.ts';
import { addCallDelta, type ToolCall, type ToolCallDelta } from '../answering/tools.ts';
import { unsupportedIn, unsupportedNotice } from '../answering/unsupported.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import type { PassingAnswer } from '../fusion/watching/watch-service.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { StopTexts } from './stop-texts.ts';
import type { CompletionRequest, CompletionResult, CompletionRun } from './types.ts';

export interface CompletionParts {
  /** A session that only this request uses; disposed here. OUT_OF_MEMORY. */
  openSession: (model: FusionModel, capacity: number) => FusionSession;
  /** Called with what watching needs to make each answer again; undefined: the controller blended nothing. */
  watch?: ((answer: PassingAnswer | undefined) => void) | undefined;
}

/** Priority among concurrent appends: a person's have 0. */
const BEHIND_PEOPLE = 1;

/** Makes an answer in a new session. */
export async function complete(
  request: CompletionRequest,
  asked: Omit<Ask, 'openSession' | 'requestClass'>,
  { maker, openSession, watch }: CompletionParts & { maker: Pick<AnswerMaker, 'answer'> },
  run: CompletionRun,
): Promise<CompletionResult> {
  let session: SessionTokens | undefined;
  const ask: Ask = {
    ...asked,
    requestClass: 'api',
    priority: BEHIND_PEOPLE,
    storesFirst: true,
    openSession: ({ model, need }) => (session = new SessionTokens(openSession(model, need))),
  };
  try {
    const { result, made } = await streamAnswer(request, ask, maker, run);
    // Without an answer it only filled the cache.
    if (request.maxTokens !== 0) watch?.(passingAnswer(made));
    return result;
  } finally {
    session?.dispose();
  }
}

/** Streams an answer to a client: up to a stop text, and from a library with the numbers of its passages. */
async function streamAnswer(
  request: CompletionRequest,
  ask: Ask,
  maker: Pick<AnswerMaker, 'answer'>,
  run: CompletionRun,
): Promise<{ result: CompletionResult; made: Answer }> {
  const stopped = new AbortController();
  const answer = new AnswerText({ ...run, stops: request.stop ?? [], onStop: () => stopped.abort() });
  const signal = AbortSignal.any([run.signal, stopped.signal]);
  const calls: ToolCall[] = [];
  const call = (delta: ToolCallDelta): void => {
    addCallDelta(calls, delta);
    run.onCall?.(delta);
  };
  let tokensBefore = 0;
  const made = await readAnswer(maker.answer({ ...ask, signal }), (event) => {
    if (event.kind === 'placed' && ask.question !== '' && request.json === undefined)
      answer.cite(event.citations, ask.question);
    else if (event.kind === 'prompt') run.onPrompt?.(event.usage);
    else if (event.kind === 'token') answer.token(event.logprobs);
    else if (event.kind === 'thought') answer.think(event.text);
    else if (event.kind === 'text') answer.write(event.text, (tokensBefore = event.tokensBefore));
    else if (event.kind === 'call' && answer.stoppedBy === undefined) {
      answer.flush(tokensBefore);
      call(event.call);
    }
  });
  if (answer.stoppedBy === undefined) throwIfAborted(run.signal);
  answer.end(made.tokensBefore);
  return { result: resultOf(request, ask, made, { answer, calls }), made };
}

function resultOf(
  request: CompletionRequest,
  ask: Ask,
  made: Answer,
  { answer, calls }: { answer: AnswerText; calls: ToolCall[] },
): CompletionResult {
  const { text, thought, stoppedBy, logprobs, sentences, tokens: counted } = answer;
  const { stop, local, tokensBefore } = made;
  // Counts in a server's prompt are its own.
  const { answerTokens: tokens = counted, ...usage } = made.usage;
  const unsupported =
    request.json === undefined ? unsupportedIn(text, made.prompt, backendOf(ask.model)) : undefined;
  // A call that repeats itself has no end.
  const isWhole = stoppedBy !== undefined || stop === 'eos' || (stop === 'repetition' && calls.length === 0);
  const stats = { ...made.stats, answerTokens: tokens, unsupported, sentences };
  return {
    model: request.model,
    fingerprint: ask.model.info.fingerprint,
    text,
    calls,
    thought,
    finish: isWhole ? (calls.length > 0 ? 'tool_calls' : 'stop') : 'length',
    stoppedBy,
    logprobs: request.logprobs === undefined ? undefined : logprobs,
    usage: { ...usage, completionTokens: tokens, thoughtTokens: Math.min(tokens, tokensBefore) },
    made: {
      stats,
      plan: local?.plan,
      notices: [
        ...made.notices,
        ...endingNotices({ text, thought, stop, stats }),
        ...unsupportedNotice(text, unsupported),
      ],
    },
    citations: citationsOf(made.prompt, made.tiers, sentences),
  };
}

interface AnswerTextOptions extends Pick<CompletionRun, 'onDelta' | 'onThought'> {
  stops: readonly string[];
  /** Called when a stop text is complete: no more tokens are needed. */
  onStop: () => void;
}

/** The text of an answer from its sampled tokens: without thoughts, up to a stop text, streamed. */
class AnswerText {
  text = '';
  thought = '';
  stoppedBy: string | undefined;
  readonly logprobs: TokenLogprobs[] = [];
  readonly #options: AnswerTextOptions;
  readonly #stops: StopTexts;
  #citer: AnswerCiter | undefined;
  #passages: readonly Citation[] = [];
  /** Tokens whose text has not been emitted yet. */
  #pending: { index: number; logprobs: TokenLogprobs }[] = [];
  #tokens = 0;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    this.#stops = new StopTexts(options.stops);
  }

  /** Tokens of the answer up to where it was stopped, thoughts included. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Its sentences and their sources; undefined where it is not cited. */
  get sentences(): CitedSentence[] | undefined {
    return this.#citer?.sentences;
  }

  /** Inserts the numbers of the passages that its sentences rest on. */
  cite(passages: readonly Citation[], question: string): void {
    this.#passages = passages;
    this.#citer ??= new AnswerCiter({ passages, question, complete: true, numbered: true });
  }

  token(logprobs: TokenLogprobs | undefined): void {
    if (this.stoppedBy !== undefined) return;
    const index = this.#tokens++;
    if (logprobs) this.#pending.push({ index, logprobs });
  }

  think(more: string): void {
    if (this.stoppedBy !== undefined) return;
    this.thought += more;
    this.#options.onThought?.(more);
  }

  /** `tokensBefore`: how many tokens do not belong to the answer. */
  write(more: string, tokensBefore: number): void {
    if (this.stoppedBy !== undefined) return;
    const { text, stoppedBy } = this.#stops.push(more);
    this.#tell(this.#citer?.push(text) ?? { text, sentences: [] }, tokensBefore);
    if (stoppedBy === undefined) return;
    this.stoppedBy = stoppedBy;
    this.#options.onStop();
  }

  /** Emits the text that was held back. */
  flush(tokensBefore: number): void {
    const rest = this.stoppedBy === undefined ? this.#stops.flush() : '';
    this.#tell(this.#citer?.push(rest) ?? { text: rest, sentences: [] }, tokensBefore);
    if (this.#citer) this.#tell(this.#citer.flush(), tokensBefore);
  }

  /** Emits also the probabilities of tokens without text. */
  end(tokensBefore: number): void {
    this.flush(tokensBefore);
    if (this.stoppedBy === undefined && this.#pending.length > 0)
      this.#deliver({ text: '', sentences: [] }, tokensBefore);
  }

  #tell(more: CitedText, tokensBefore: number): void {
    if (more.text !== '' || more.sentences.length > 0) this.#deliver(more, tokensBefore);
  }

  #deliver({ text, sentences }: CitedText, from: number): void {
    const logprobs = this.#pending.flatMap((each) => (each.index >= from ? [each.logprobs] : []));
    this.#pending = [];
    this.logprobs.push(...logprobs);
    this.text += text;
    this.#options.onDelta?.({
      text,
      ...(sentences.length > 0 && { cited: { sentences, passages: this.#passages } }),
      ...(logprobs.length > 0 && { logprobs }),
    });
  }
}
