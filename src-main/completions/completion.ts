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

/** Makes an answer in a new session and streams it: up to a stop text, and from a library with the numbers of its passages. */
export async function complete(
  request: CompletionRequest,
  asked: Omit<Ask, 'openSession' | 'requestClass'>,
  { maker, openSession, watch }: CompletionParts & { maker: Pick<AnswerMaker, 'answer'> },
  run: CompletionRun,
): Promise<CompletionResult> {
  let session: SessionTokens | undefined;
  const answer = new AnswerText(request.stop ?? [], run);
  const ask: Ask = {
    ...asked,
    requestClass: 'api',
    priority: BEHIND_PEOPLE,
    storesFirst: true,
    signal: AbortSignal.any([run.signal, answer.stopped]),
    openSession: ({ model, need }) => (session = new SessionTokens(openSession(model, need))),
  };
  const cites = ask.question !== '' && request.json === undefined;
  try {
    const made = await readAnswer(maker.answer(ask), (event) => {
      if (event.kind === 'placed' && cites) answer.cite(event.citations, ask.question);
      else if (event.kind === 'prompt') run.onPrompt?.(event.usage);
      else if (event.kind === 'token') answer.token(event.logprobs);
      else if (event.kind === 'thought') answer.think(event.text);
      else if (event.kind === 'text') answer.write(event.text, event.tokensBefore);
      else if (event.kind === 'call') answer.call(event.call);
    });
    if (answer.stoppedBy === undefined) throwIfAborted(run.signal);
    answer.end(made.tokensBefore);
    // Without an answer it only filled the cache.
    if (request.maxTokens !== 0) watch?.(passingAnswer(made));
    return resultOf(request, ask, made, answer);
  } finally {
    session?.dispose();
  }
}

function resultOf(
  request: CompletionRequest,
  ask: Ask,
  made: Answer,
  { text, thought, calls, stoppedBy, logprobs, sentences, tokens: counted }: AnswerText,
): CompletionResult {
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

/** The text and calls of an answer from its events, up to a stop text, streamed. */
class AnswerText {
  text = '';
  thought = '';
  stoppedBy: string | undefined;
  readonly calls: ToolCall[] = [];
  readonly logprobs: TokenLogprobs[] = [];
  readonly #run: CompletionRun;
  readonly #stops: StopTexts;
  readonly #stopped = new AbortController();
  #citer: AnswerCiter | undefined;
  #passages: readonly Citation[] = [];
  /** Tokens whose text has not been emitted yet. */
  #pending: { index: number; logprobs: TokenLogprobs }[] = [];
  #tokens = 0;
  /** How many tokens do not belong to the text. */
  #tokensBefore = 0;

  constructor(stops: readonly string[], run: CompletionRun) {
    this.#stops = new StopTexts(stops);
    this.#run = run;
  }

  /** Aborted at a stop text: no more tokens are needed. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
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
    this.#run.onThought?.(more);
  }

  /** `tokensBefore`: how many tokens do not belong to the answer. */
  write(more: string, tokensBefore: number): void {
    this.#tokensBefore = tokensBefore;
    if (this.stoppedBy !== undefined) return;
    const { text, stoppedBy } = this.#stops.push(more);
    this.#tell(this.#citer?.push(text) ?? { text, sentences: [] });
    if (stoppedBy === undefined) return;
    this.stoppedBy = stoppedBy;
    this.#stopped.abort();
  }

  /** More of a call, after all text. */
  call(delta: ToolCallDelta): void {
    if (this.stoppedBy !== undefined) return;
    this.#flush();
    addCallDelta(this.calls, delta);
    this.#run.onCall?.(delta);
  }

  /** Emits what was held back, and the probabilities of tokens without text. */
  end(tokensBefore: number): void {
    this.#tokensBefore = tokensBefore;
    this.#flush();
    if (this.stoppedBy === undefined && this.#pending.length > 0) this.#deliver({ text: '', sentences: [] });
  }

  /** Emits the text that was held back. */
  #flush(): void {
    const rest = this.stoppedBy === undefined ? this.#stops.flush() : '';
    this.#tell(this.#citer?.push(rest) ?? { text: rest, sentences: [] });
    if (this.#citer) this.#tell(this.#citer.flush());
  }

  #tell(more: CitedText): void {
    if (more.text !== '' || more.sentences.length > 0) this.#deliver(more);
  }

  #deliver({ text, sentences }: CitedText): void {
    const logprobs = this.#pending.flatMap((each) =>
      each.index >= this.#tokensBefore ? [each.logprobs] : [],
    );
    this.#pending = [];
    this.logprobs.push(...logprobs);
    this.text += text;
    this.#run.onDelta?.({
      text,
      ...(sentences.length > 0 && { cited: { sentences, passages: this.#passages } }),
      ...(logprobs.length > 0 && { logprobs }),
    });
  }
}
