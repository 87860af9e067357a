import type { Ttft } from '../../../src-shared/ttft.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { isAborted } from '../../platform/abort.ts';
import { beginsJson, isJson } from '../../platform/is-json.ts';
import type { RemotePiece, RemoteRequest, RemoteUsage } from '../../models/sources/servers/client.ts';
import type { ServerModel } from '../../models/sources/servers/server-model.ts';
import { requireRoom, type Ask } from '../ask.ts';
import { figuresOnServer, NO_HITS } from '../figures.ts';
import { citationsOf } from '../passages.ts';
import type { PromptRequest } from '../prompt.ts';
import type { Stopwatch } from '../stopwatch.ts';
import { STRAY, ThoughtStream, type AnswerDelta } from '../thoughts.ts';
import { declaration, newCallId, type ToolCallDelta } from '../tools.ts';
import { AnswerWriter } from '../answer-writer.ts';
import type { AnswerEvent, Backend, ToolStep, Turn } from './backend.ts';
import { messagesOf, textPrompt, withResults, type TextPrompt } from './text-prompt.ts';

/** A model on a server: it is sent messages with the passages as text, and the whole conversation each time. */
export class RemoteBackend implements Backend<TextPrompt> {
  readonly takesGrammar = false;
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
    return textPrompt(this.#model, request);
  }

  async *turn(ask: Ask, prompt: TextPrompt): AsyncGenerator<AnswerEvent, Turn, void> {
    requireSupported(ask);
    const { choices, begun, stopwatch } = ask;
    const tokens = prompt.tokens + this.#model.tokenize(begun?.text ?? '').length;
    requireRoom(tokens, ask);
    const answer = new ServerAnswer(ask, this.#model);
    if (begun) yield { kind: 'begun', written: answer.begun };
    yield { kind: 'placed', citations: citationsOf(prompt, new Map()), prompt };
    const times = { wait: 0, ...ask.before, assemble: stopwatch.lap() };
    const room = choices.contextTokens - tokens;
    const { temperature = 0, topP, seed } = choices.sampling;
    const pieces = this.#model.complete({
      messages: messagesOf(prompt, this.#model.server.separator, begun?.text ?? ''),
      maxTokens: Math.min(choices.maxTokens, room),
      temperature,
      seed,
      ...(temperature > 0 && { topP }),
      tools: toolsOf(ask),
      json: ask.json,
      signal: AbortSignal.any([...(ask.signal ? [ask.signal] : []), answer.written.repeats]),
    });
    let firstAt: number | undefined;
    try {
      for await (const piece of pieces) {
        if (piece.kind !== 'end') firstAt ??= stopwatch.clock.now();
        yield* answer.push(piece);
      }
    } catch (error) {
      if (!isAborted(error) || firstAt === undefined) throw error;
    }
    const now = stopwatch.clock.now();
    yield* answer.flush();
    const ttftMs = ttftOf(times, (firstAt ??= now), stopwatch);
    requireJson(answer, ask, this.#model);
    const stop = answer.stop === 'length' && room < choices.maxTokens ? 'context' : answer.stop;
    return turnOf(answer, prompt, { ttftMs, stop, writtenMs: now - firstAt });
  }

  followUp(prompt: TextPrompt, step: ToolStep): TextPrompt {
    return withResults(prompt, step, this.#model);
  }

  foresee(): Promise<undefined> {
    return Promise.resolve(undefined);
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

/** Its answer arrives as text. */
const NO_TOKENS = { detokenize: () => '' };

/** An answer as it arrives, with the marks that models write around thoughts. */
class ServerAnswer {
  readonly begun: AnswerDelta;
  readonly written: AnswerWriter;
  stop: Turn['stop'] = 'aborted';
  usage: RemoteUsage = { promptTokens: null, cachedTokens: null, answerTokens: null };
  /** Estimated, as the prompt's. */
  tokens = 0;
  readonly #model: Pick<ServerModel, 'tokenize'>;
  readonly #writing = new ThoughtStream(NO_TOKENS, '');
  readonly #told: AnswerEvent[] = [];
  readonly #called = new Set<number>();
  #thinks: boolean;

  constructor({ begun, raw = false }: Ask, model: Pick<ServerModel, 'tokenize'>) {
    this.#model = model;
    this.begun = begunText(this.#writing, begun);
    this.#thinks = begun?.text === '' && this.begun.thought !== '';
    this.written = new AnswerWriter({
      writing: this.#writing,
      begun: this.begun,
      mayRepeat: raw,
      tell: (event) => this.#told.push(event),
    });
  }

  /** Whether it calls a tool. */
  get called(): boolean {
    return this.#called.size > 0;
  }

  get tokensBefore(): number {
    return this.#writing.tokensBefore;
  }

  push(piece: RemotePiece): AnswerEvent[] {
    if (piece.kind === 'end') {
      this.stop = piece.reason === 'length' ? 'length' : 'eos';
      this.usage = piece.usage;
      return [];
    }
    if (piece.kind === 'call') return [{ kind: 'call', call: this.#named(piece.call) }];
    const thinks = piece.kind === 'thought';
    if (thinks !== this.#thinks) this.written.add(this.#writing.pushMark(thinks ? STRAY.begin : STRAY.end));
    this.#thinks = thinks;
    const count = this.#model.tokenize(piece.text).length;
    this.tokens += count;
    this.written.add(this.#writing.pushText(piece.text, count));
    return this.#told.splice(0);
  }

  /** The first delta of a call has an id; some servers send none. */
  #named(call: ToolCallDelta): ToolCallDelta {
    if (this.#called.has(call.index)) return { index: call.index, arguments: call.arguments };
    this.#called.add(call.index);
    return { ...call, id: call.id ?? newCallId(), name: call.name ?? '' };
  }

  /** The remaining text at the end of the stream. */
  flush(): AnswerEvent[] {
    this.written.add(this.#writing.flush());
    if (this.written.repeats.aborted) this.stop = 'repetition';
    return this.#told.splice(0);
  }
}

/** The whole wait after the prompt was sent counts as the server's. */
function ttftOf(
  times: Pick<Ttft, 'wait' | 'retrieve' | 'assemble'>,
  firstAt: number,
  { start, lapStart }: Stopwatch,
): Ttft {
  const total = firstAt - start;
  const server = firstAt - lapStart;
  const other = Math.max(0, total - server - times.wait - times.retrieve - times.assemble);
  return {
    total,
    ...times,
    acquire: 0,
    load: 0,
    place: 0,
    check: 0,
    recompute: 0,
    firstToken: 0,
    server,
    other,
  };
}

function turnOf(
  { written, usage, tokens, tokensBefore }: ServerAnswer,
  prompt: TextPrompt,
  { ttftMs, stop, writtenMs }: Pick<Turn, 'stop'> & { ttftMs: Ttft; writtenMs: number },
): Turn {
  const { promptTokens, cachedTokens, answerTokens } = usage;
  // Programs get an estimate where the server did not count, as when a stop text ended the answer here.
  const counted = {
    promptTokens: promptTokens ?? prompt.tokens,
    cachedTokens: cachedTokens ?? 0,
    storedTokens: 0,
    answerTokens: answerTokens ?? tokens,
  };
  const figures = figuresOnServer(promptTokens ?? prompt.tokens);
  return {
    thought: written.thought,
    text: written.text,
    stop,
    tiers: new Map(),
    notices: [],
    figures,
    stats: {
      ttftMs,
      fullPrefillMs: null,
      fullPrefillMeasured: false,
      tokensPerSecond: writtenMs > 0 ? ((answerTokens ?? 0) * 1000) / writtenMs : 0,
      server: usage,
      ...figures,
      answerTokens: counted.answerTokens,
      chunkHits: NO_HITS,
      strategy: { name: 'full', ratio: 1 },
    },
    usage: counted,
    answer: new Int32Array(0),
    tokensBefore,
  };
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

function toolsOf({ tools: request }: Ask): RemoteRequest['tools'] {
  if (!request) return undefined;
  const { tools, choice, allowed, parallel } = request;
  // Few servers know OpenAI's choice among the declared tools.
  const offered = allowed ? tools.filter(({ name }) => allowed.includes(name)) : tools;
  return {
    tools: offered.map((tool) => {
      const { type, function: told } = declaration(tool);
      return { type, function: { ...told, ...(tool.strict !== undefined && { strict: tool.strict }) } };
    }),
    tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice },
    ...(!parallel && { parallel_tool_calls: false }),
  };
}

/** Some servers ignore a requested format. REMOTE_FAILED. */
function requireJson({ written, stop, called }: ServerAnswer, { json }: Ask, { server }: ServerModel): void {
  if (!json || called) return;
  if (stop === 'eos' ? isJson(written.text) : stop !== 'length' || beginsJson(written.text)) return;
  throw new KvasirError(
    'REMOTE_FAILED',
    `${new URL(server.address).host} ignored the requested JSON format.`,
    'Choose a model on a server that supports response_format, or ask for text.',
  );
}

/** A filter with a neutral value is omitted; one that a person set for local models is ignored. */
function requireSupported({ filter, json, choices: { sampling, maxTokens } }: Ask): void {
  if (filter !== undefined)
    throw unsupported(`${filter} is not supported for remote models.`, 'Leave it out, or use top_p.');
  if (maxTokens === 0)
    throw unsupported(
      'Prompts for remote models are not cached, so there is no cache to fill.',
      'Request at least one token.',
    );
  if (sampling.chances !== undefined || (sampling.grammar !== undefined && !json))
    throw unsupported(
      'Log probabilities and grammars are not supported for remote models.',
      'Send the request to that server directly, or choose a local model.',
    );
}

function unsupported(message: string, advice: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', message, advice);
}
