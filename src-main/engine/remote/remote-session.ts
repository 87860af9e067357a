import { KvasirError } from '../../../src-shared/errors.ts';
import type {
  NativeAbort,
  NativeAppendReport,
  NativeGenerateResult,
  NativeSampled,
  NativeSampling,
  NativeSegment,
  NativeSession,
} from '../native.ts';
import type { RemoteClient, RemoteUsage } from './client.ts';
import { endsInThought, messagesOf, type Run } from './messages.ts';
import type { RemoteServer } from './server-address.ts';
import { encode, markId } from './text-units.ts';

/** The outcome of a request to the server. */
export interface RemoteOutcome {
  /** From the request to the first token, in milliseconds; undefined if there was none. */
  ttftMs: number | undefined;
  /** undefined if the server did not count. */
  tokensPerSecond: number | undefined;
  failure: KvasirError | undefined;
}

interface RemoteSessionOptions {
  client: Pick<RemoteClient, 'complete'>;
  server: RemoteServer;
  capacity: number;
  onOutcome?: ((outcome: RemoteOutcome) => void) | undefined;
}

/** An abort flag that is also a signal: it cancels requests. */
export class RemoteAbort implements NativeAbort {
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort();
  }
}

/** The text of one conversation, sent in full with each request; caching is up to the server. */
export class RemoteSession implements NativeSession {
  readonly capacity: number;
  readonly #options: RemoteSessionOptions;
  #runs: Run[] = [];

  constructor(options: RemoteSessionOptions, runs: readonly Run[] = []) {
    this.#options = options;
    this.capacity = options.capacity;
    this.#runs = [...runs];
  }

  get length(): number {
    return this.#runs.reduce((sum, { tokens }) => sum + tokens.length, 0);
  }

  /** Sends nothing yet. */
  append(segments: NativeSegment[]): Promise<NativeAppendReport> {
    const added = segments.map((segment): Run => {
      if (segment.kind === 'chunk') throw new TypeError('a model on a server has no chunks');
      return { tokens: segment.tokens, passage: segment.passage ?? false };
    });
    this.#runs.push(...added);
    return Promise.resolve(reportOf(added.reduce((sum, { tokens }) => sum + tokens.length, 0)));
  }

  logits(): Float32Array {
    throw new TypeError('a model on a server provides no logits');
  }

  /** ABORTED if stopped before the first token, REMOTE_*, CONTEXT_OVERFLOW, BAD_ARGUMENT. */
  async generate(
    maxTokens: number,
    sampling: NativeSampling,
    abort: NativeAbort,
    onToken?: (token: number | NativeSampled) => void,
  ): Promise<NativeGenerateResult> {
    requireTold(sampling);
    const { client, server, onOutcome } = this.#options;
    const written = new AnswerTokens(endsInThought(this.#runs), onToken);
    if (!(abort instanceof RemoteAbort)) throw new TypeError('abort must be a RemoteAbort');
    const { signal } = abort;
    const { temperature, topP, seed } = sampling;
    const started = performance.now();
    let firstAt: number | undefined;
    let stop: NativeGenerateResult['stop'] = 'aborted';
    let usage: RemoteUsage | undefined;
    let failure: unknown;
    try {
      const messages = messagesOf(this.#runs, server.separator);
      const request = { messages, maxTokens, temperature, seed, signal, ...(temperature > 0 && { topP }) };
      for await (const piece of client.complete(server, request)) {
        if (piece.kind === 'end') {
          stop = piece.reason === 'length' ? 'length' : 'eos';
          usage = piece.usage;
        } else {
          firstAt ??= performance.now();
          written.push(piece.kind, piece.text);
        }
      }
    } catch (error) {
      failure = error;
      if (!(isStopped(error) && firstAt !== undefined)) throw error;
    } finally {
      const tokens = written.tokens;
      if (tokens.length > 0) this.#runs.push({ tokens, passage: false });
      onOutcome?.(outcomeOf({ started, firstAt, usage, failure }));
    }
    const ms = firstAt === undefined ? 0 : performance.now() - firstAt;
    return { tokens: written.tokens, stop, ms, usage: usage ?? NOTHING_TOLD };
  }

  truncate(length: number): void {
    const kept: Run[] = [];
    let left = length;
    for (const run of this.#runs) {
      if (left <= 0) break;
      kept.push({ ...run, tokens: run.tokens.subarray(0, left) });
      left -= run.tokens.length;
    }
    this.#runs = kept;
  }

  adopt(): Promise<number> {
    return Promise.resolve(0);
  }

  fork(length: number): Promise<NativeSession> {
    const branch = new RemoteSession(this.#options, this.#runs);
    branch.truncate(length);
    return Promise.resolve(branch);
  }

  reserve(): Promise<void> {
    return Promise.resolve();
  }

  warm(): Promise<void> {
    return Promise.resolve();
  }

  deviationFrom(): Promise<never> {
    return Promise.reject(new TypeError('a model on a server has no KV to compare'));
  }

  dispose(): void {
    this.#runs = [];
  }
}

const NOTHING_TOLD: RemoteUsage = { promptTokens: null, cachedTokens: null, answerTokens: null };

/** The answer as ids: thoughts are enclosed in marks. */
class AnswerTokens {
  readonly #ids: number[] = [];
  readonly #onToken: ((token: number) => void) | undefined;
  #thinking: boolean;

  constructor(thinking: boolean, onToken: ((token: number) => void) | undefined) {
    this.#thinking = thinking;
    this.#onToken = onToken;
  }

  get tokens(): Int32Array {
    return Int32Array.from(this.#ids);
  }

  push(kind: 'thought' | 'text', text: string): void {
    const thinks = kind === 'thought';
    if (thinks !== this.#thinking) this.#add(markId(thinks ? 'think' : 'thought'));
    this.#thinking = thinks;
    for (const id of encode(text)) this.#add(id);
  }

  #add(id: number): void {
    this.#ids.push(id);
    this.#onToken?.(id);
  }
}

interface Course {
  started: number;
  firstAt: number | undefined;
  usage: RemoteUsage | undefined;
  failure: unknown;
}

function outcomeOf({ started, firstAt, usage, failure }: Course): RemoteOutcome {
  const seconds = firstAt === undefined ? 0 : (performance.now() - firstAt) / 1000;
  const counted = usage?.answerTokens ?? 0;
  return {
    ttftMs: firstAt === undefined ? undefined : firstAt - started,
    tokensPerSecond: counted > 1 && seconds > 0 ? counted / seconds : undefined,
    failure: failure instanceof KvasirError && !isStopped(failure) ? failure : undefined,
  };
}

function isStopped(error: unknown): boolean {
  return error instanceof KvasirError && error.code === 'ABORTED';
}

function requireTold({ chances, grammar }: NativeSampling): void {
  if (chances === undefined && grammar === undefined) return;
  throw new KvasirError(
    'BAD_ARGUMENT',
    'Log probabilities and grammars are not supported for remote models.',
    'Send the request to that server directly, or choose a local model.',
  );
}

/** Nothing was computed here. */
function reportOf(tokens: number): NativeAppendReport {
  return {
    tokens,
    reusableTokens: 0,
    recomputedTokens: 0,
    processedTokens: 0,
    selected: new Int32Array(0),
    bytesLoaded: 0,
    bytesCrossed: 0,
    layers: [],
    checks: [],
    question: null,
    totalMs: 0,
    stages: { question: 0, place: 0, check: 0, select: 0, compute: 0, loadWait: 0, head: 0 },
  };
}
