import type { AnswerStats } from '../../../src-shared/contract/chat.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { isAborted } from '../../platform/abort.ts';
import type { ChatMessage, RemotePiece, RemoteUsage } from '../../models/sources/servers/client.ts';
import type { ServerModel } from '../../models/sources/servers/server-model.ts';
import { requireRoom, type Ask } from '../ask.ts';
import { figuresOnServer } from '../figures.ts';
import { citationsOf } from '../passages.ts';
import { fitted, type Message, type Prompt, type PromptRequest } from '../prompt.ts';
import { NO_HITS } from '../stats.ts';
import { STRAY, ThoughtStream, type AnswerDelta } from '../thoughts.ts';
import { Written } from '../written.ts';
import type { AnswerEvent, Backend, Turn } from './backend.ts';
import { contextOverflow, questionTooLong } from './token-prompt.ts';

/** Text of a message. */
interface TextPart {
  kind: 'text' | 'chunk';
  text: string;
  turn: number;
}

/** A prompt as messages, which the server puts into its model's template. */
interface TextPrompt extends Prompt {
  parts: TextPart[];
  messages: { role: ChatMessage['role']; parts: TextPart[] }[];
}

/** Sent to a server that cannot continue an assistant message: nearly none can. */
const GO_ON = 'Go on exactly where your answer stopped. Repeat nothing of it.';

/** Separates passages if no separator is set. */
const PARAGRAPHS = '\n\n';

/** A model on a server: it is sent messages with the passages as text, and the whole conversation each time. */
export class RemoteBackend implements Backend<TextPrompt> {
  readonly #model: ServerModel;

  constructor(model: ServerModel) {
    this.#model = model;
  }

  layOut(request: PromptRequest): TextPrompt {
    if (request.form === 'text')
      throw unsupported(
        'Continuing raw text is not supported for remote models.',
        'Send messages to /v1/chat/completions instead.',
      );
    return fitted(
      request,
      (messages) => layOut(messages, this.#model),
      (tokens) => (request.form === 'conversation' ? questionTooLong(tokens, request) : promptTooLong()),
    );
  }

  async *turn(ask: Ask, prompt: TextPrompt): AsyncGenerator<AnswerEvent, Turn, void> {
    requireSupported(ask);
    const { choices, begun, stopwatch } = ask;
    const tokens = prompt.tokens + this.#model.tokenize(begun?.text ?? '').length;
    requireRoom(tokens, ask);
    const room = choices.contextTokens - tokens;
    const told: AnswerEvent[] = [];
    const writing = new ThoughtStream(NO_TOKENS, '');
    const before = begunText(writing, begun);
    const written = new Written({
      writing,
      begun: before,
      mayRepeat: ask.raw ?? false,
      tell: (event) => told.push(event),
    });
    if (begun) yield { kind: 'begun', written: before };
    yield { kind: 'placed', citations: citationsOf(prompt, new Map()), prompt };
    const assemble = stopwatch.lap();
    const { temperature = 0, topP, seed } = choices.sampling;
    const pieces = this.#model.complete({
      messages: messagesOf(prompt, this.#model.server.separator, begun?.text ?? ''),
      maxTokens: Math.min(choices.maxTokens, room),
      temperature,
      seed,
      ...(temperature > 0 && { topP }),
      signal: AbortSignal.any([...(ask.signal ? [ask.signal] : []), written.repeats]),
    });
    const answer = new AnswerPieces(writing, begun?.text === '' && before.thought !== '');
    const ended: RemoteEnd = { stop: 'aborted', usage: NOTHING_TOLD };
    let firstAt: number | undefined;
    let estimated = 0;
    try {
      for await (const piece of pieces) {
        if (piece.kind === 'end') {
          ended.stop = piece.reason === 'length' ? (room < choices.maxTokens ? 'context' : 'length') : 'eos';
          ended.usage = piece.usage;
          continue;
        }
        firstAt ??= stopwatch.clock.now();
        const count = this.#model.tokenize(piece.text).length;
        estimated += count;
        for (const delta of answer.push(piece, count)) written.add(delta);
        yield* told.splice(0);
      }
    } catch (error) {
      if (!isAborted(error) || firstAt === undefined) throw error;
    }
    const now = stopwatch.clock.now();
    written.add(writing.flush());
    yield* told.splice(0);
    firstAt ??= now;
    const { promptTokens, cachedTokens, answerTokens } = ended.usage;
    const figures = figuresOnServer(promptTokens ?? prompt.tokens);
    const times = { wait: 0, ...ask.before, assemble, server: firstAt - stopwatch.lapStart };
    const total = firstAt - stopwatch.start;
    const parts = { ...NO_TIME, ...times };
    return {
      thought: written.thought,
      text: written.text,
      stop: written.repeats.aborted ? 'repetition' : ended.stop,
      tiers: new Map(),
      notices: [],
      figures,
      stats: {
        ttftMs: { ...parts, total, other: Math.max(0, total - sum(Object.values(parts))) },
        fullPrefillMs: null,
        fullPrefillMeasured: false,
        tokensPerSecond: now > firstAt ? ((answerTokens ?? 0) * 1000) / (now - firstAt) : 0,
        server: ended.usage,
        ...figures,
        answerTokens: answerTokens ?? estimated,
        chunkHits: NO_HITS,
        strategy: { name: 'full', ratio: 1 },
      },
      usage: {
        promptTokens: promptTokens ?? 0,
        cachedTokens: cachedTokens ?? 0,
        storedTokens: 0,
        answerTokens: answerTokens ?? 0,
      },
      answer: new Int32Array(0),
      tokensBefore: writing.tokensBefore,
    };
  }

  textsOf({ parts }: TextPrompt): string[] {
    return parts.map(({ text }) => text);
  }

  tokensOf(): never {
    throw unsupported(
      'The tokenizer of this remote model is unknown: its tokens cannot be counted in advance.',
      'The usage of an answer contains the token counts.',
    );
  }

  /** Its tokens are estimated, which takes no time. */
  requireFits(): Promise<void> {
    return Promise.resolve();
  }
}

interface RemoteEnd {
  stop: Turn['stop'];
  usage: RemoteUsage;
}

const NOTHING_TOLD: RemoteUsage = { promptTokens: null, cachedTokens: null, answerTokens: null };

const NO_TIME: Omit<AnswerStats['ttftMs'], 'total' | 'other' | 'server' | 'wait' | 'retrieve' | 'assemble'> =
  {
    acquire: 0,
    load: 0,
    place: 0,
    check: 0,
    recompute: 0,
    firstToken: 0,
  };

/** Its answer arrives as text. */
const NO_TOKENS = { detokenize: () => '' };

/** The pieces of an answer as text, with the marks that models write around thoughts. */
class AnswerPieces {
  readonly #writing: ThoughtStream;
  #thinking: boolean;

  constructor(writing: ThoughtStream, thinking: boolean) {
    this.#writing = writing;
    this.#thinking = thinking;
  }

  push({ kind, text }: Exclude<RemotePiece, { kind: 'end' }>, tokens: number): AnswerDelta[] {
    const thinks = kind === 'thought';
    const turns = thinks !== this.#thinking;
    this.#thinking = thinks;
    return [
      ...(turns ? [this.#writing.pushMark(thinks ? STRAY.begin : STRAY.end)] : []),
      this.#writing.pushText(text, tokens),
    ];
  }
}

/** Reads what was begun, so that the rest continues it: a thought is unfinished if no answer follows it. */
function begunText(writing: ThoughtStream, begun: Ask['begun']): AnswerDelta {
  const deltas: AnswerDelta[] = [];
  if (begun?.thought) deltas.push(writing.pushMark(STRAY.begin), writing.pushText(begun.thought, 0));
  if (begun?.thought && begun.text !== '') deltas.push(writing.pushMark(STRAY.end));
  if (begun) deltas.push(writing.pushText(begun.text, 0));
  return {
    thought: deltas.map(({ thought }) => thought).join(''),
    answer: deltas.map(({ answer }) => answer).join(''),
  };
}

function layOut(messages: readonly Message[], model: Pick<ServerModel, 'tokenize'>): TextPrompt {
  const cited: Prompt['cited'] = [];
  const parts: TextPart[] = [];
  let turn = -1;
  const laidOut = messages.map(({ role, pieces, isRead }, i) => {
    if (role === 'user') turn++;
    const own: TextPart[] = [];
    for (const piece of pieces) {
      const text = typeof piece === 'string' ? piece : piece.text;
      const known = parts.findIndex(
        (part) => part.kind === 'chunk' && part.turn < turn && part.text === text,
      );
      const isChunk = typeof piece !== 'string';
      if (isChunk && 'tokens' in piece && i === messages.length - 1)
        cited.push({ chunk: piece, part: known < 0 ? parts.length : known });
      if (isChunk && known >= 0) continue; // the server was sent it before
      const part: TextPart = { kind: isChunk ? 'chunk' : 'text', text: isRead ? text.trim() : text, turn };
      parts.push(part);
      own.push(part);
    }
    return { role, parts: own };
  });
  const tokens = parts.reduce((total, { text }) => total + model.tokenize(text).length, 0);
  return { parts, messages: laidOut, tokens, cited, leftOut: [], turnsLeftOut: 0, plainBecause: undefined };
}

/**
 * A prompt's messages. Passages are joined by the separator, which also comes before the first and after the last of them: LMCache splits
 * prompts there, and a passage has the same text at any position. An answer that has begun is continued.
 */
function messagesOf(
  { messages }: Pick<TextPrompt, 'messages'>,
  separator: string,
  begun: string,
): ChatMessage[] {
  const written = messages.map(({ role, parts }) => ({ role, content: joined(parts, separator) }));
  if (begun === '') return written;
  return [...written, { role: 'assistant', content: begun }, { role: 'user', content: GO_ON }];
}

function joined(parts: readonly TextPart[], separator: string): string {
  const between = separator === '' ? PARAGRAPHS : separator;
  let text = '';
  let apart = false;
  for (const part of parts) {
    const isChunk = part.kind === 'chunk';
    if ((apart || isChunk) && (text !== '' || separator !== '')) text += between;
    text += isChunk ? part.text.trimEnd() : part.text;
    apart = isChunk;
  }
  return text;
}

/** A filter with a neutral value is omitted; one that a person set for local models is ignored. */
function requireSupported({ filter, choices: { sampling, maxTokens } }: Ask): void {
  if (filter !== undefined)
    throw unsupported(`${filter} is not supported for remote models.`, 'Leave it out, or use top_p.');
  if (maxTokens === 0)
    throw unsupported(
      'Prompts for remote models are not cached, so there is no cache to fill.',
      'Request at least one token.',
    );
  if (sampling.chances !== undefined || sampling.grammar !== undefined)
    throw unsupported(
      'Log probabilities and grammars are not supported for remote models.',
      'Send the request to that server directly, or choose a local model.',
    );
}

function unsupported(message: string, advice: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', message, advice);
}

/** Without a count: it is only estimated. */
function promptTooLong(): KvasirError {
  return contextOverflow(
    'The prompt exceeds the context of this remote model, and the answer needs room as well.',
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
