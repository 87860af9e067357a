import tls from 'node:tls';
import type OpenAI from 'openai';
import { z } from 'zod';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { connectionLost, notTheProtocol, remoteFailure, tooSlow, type FailedRequest } from './failures.ts';
import { httpFetch } from './http-fetch.ts';
import type { RemoteServer } from './server-address.ts';

export type ChatMessage = OpenAI.ChatCompletionMessageParam;

/** Token counts from the server; null if it sent none. */
export interface RemoteUsage {
  promptTokens: number | null;
  /** Of these, tokens from the server's prefix cache. */
  cachedTokens: number | null;
  answerTokens: number | null;
}

export interface RemoteRequest {
  messages: readonly ChatMessage[];
  maxTokens: number;
  temperature: number;
  topP?: number | undefined;
  seed?: number | undefined;
  /** In OpenAI's form. */
  tools?:
    | Pick<OpenAI.ChatCompletionCreateParams, 'tools' | 'tool_choice' | 'parallel_tool_calls'>
    | undefined;
  /** The JSON that the answer must be, of a schema or any object. */
  json?: { schema?: boolean | Readonly<Record<string, unknown>> | undefined } | undefined;
  signal: AbortSignal;
}

/** A further piece of an answer, or how it ended. */
export type RemotePiece =
  | { kind: 'thought' | 'text'; text: string }
  /** More of a tool call; id and name come with the first piece of it. */
  | {
      kind: 'call';
      call: { index: number; id?: string | undefined; name?: string | undefined; arguments: string };
    }
  | { kind: 'end'; reason: 'stop' | 'length'; usage: RemoteUsage };

/** A model in a server's list; some servers include the context length. */
export interface ListedModel {
  id: string;
  contextTokens: number | null;
}

interface ClientOptions {
  address: string;
  /** '' for none; read for each request, so that a new key takes effect immediately. */
  key: () => Promise<string>;
}

const LIST_SECONDS = 20;
/** More than any server has; the rest is ignored. */
const MOST_LISTED = 2000;

/** The fields that Kvasir reads of a response chunk; others are ignored. */
const ChunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            reasoning_content: z.string().nullish(), // vLLM, SGLang, llama-server, DeepSeek
            reasoning: z.string().nullish(), // newer vLLM, Ollama
            tool_calls: z
              .array(
                z.object({
                  index: z.int().min(0).nullish(),
                  id: z.string().nullish(),
                  function: z
                    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
                    .nullish(),
                }),
              )
              .nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z
    .object({
      prompt_tokens: z.int().min(0).nullish(),
      completion_tokens: z.int().min(0).nullish(),
      prompt_tokens_details: z.object({ cached_tokens: z.int().min(0).nullish() }).nullish(),
    })
    .nullish(),
});

type Chunk = z.infer<typeof ChunkSchema>;

const ListedSchema = z.object({
  id: z.string().min(1).max(500),
  max_model_len: z.int().min(1).nullish(), // vLLM, SGLang
  context_length: z.int().min(1).nullish(), // LM Studio and others
  meta: z.object({ n_ctx: z.int().min(1).nullish() }).nullish(), // llama-server
});

const UNTOLD: RemoteUsage = { promptTokens: null, cachedTokens: null, answerTokens: null };

/**
 * Client of one server with an OpenAI-compatible API, built on OpenAI's client. Without retries: the user sees the
 * error and can ask again.
 */
export class RemoteClient {
  readonly #options: ClientOptions;
  readonly #host: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#host = new URL(options.address).host;
  }

  /** REMOTE_*, ABORTED. */
  async models(signal?: AbortSignal): Promise<ListedModel[]> {
    const asked: FailedRequest = { host: this.#host, key: await this.#options.key() };
    const patience = new SilenceTimeout(LIST_SECONDS, signal);
    try {
      const client = await this.#client(asked.key ?? '');
      const answer: unknown = await client.get('/models', { signal: patience.signal });
      const listed = z.object({ data: z.array(z.unknown()) }).safeParse(answer);
      if (!listed.success) throw notTheProtocol(asked, 'it has no model list');
      const known = listed.data.data
        .slice(0, MOST_LISTED)
        .flatMap((each) => ListedSchema.safeParse(each).data ?? []);
      return known.map(({ id, max_model_len, context_length, meta }) => ({
        id,
        contextTokens: max_model_len ?? context_length ?? meta?.n_ctx ?? null,
      }));
    } catch (error) {
      throw patience.explain(error, asked);
    } finally {
      patience.end();
    }
  }

  /**
   * Streams an answer; the last piece says how it ended. Aborting also cancels the request on the server. REMOTE_*,
   * CONTEXT_OVERFLOW, ABORTED.
   */
  async *complete(
    { model, waitSeconds }: Pick<RemoteServer, 'model' | 'waitSeconds'>,
    request: RemoteRequest,
  ): AsyncGenerator<RemotePiece> {
    const asked: FailedRequest = { host: this.#host, model, key: await this.#options.key(), begun: false };
    const patience = new SilenceTimeout(waitSeconds, request.signal);
    let reason: string | undefined;
    let usage = UNTOLD;
    try {
      for await (const chunk of await this.#stream(asked, model, request, patience.signal)) {
        const { choices, usage: told } = parsed(chunk, asked);
        patience.heard();
        if (told) usage = usageOf(told);
        for (const piece of piecesOf(choices[0])) {
          asked.begun = true;
          yield piece;
        }
        reason = choices[0]?.finish_reason ?? reason;
      }
      patience.requireUnbroken();
      if (reason === undefined)
        throw asked.begun ? connectionLost(asked) : notTheProtocol(asked, 'its response is empty');
      if (reason === 'content_filter') throw filtered(asked);
      yield { kind: 'end', reason: reason === 'length' ? 'length' : 'stop', usage };
    } catch (error) {
      throw patience.explain(error, asked);
    } finally {
      patience.end(); // also if the reader stops early: cancel the request
    }
  }

  async #stream(
    asked: FailedRequest,
    model: string,
    request: RemoteRequest,
    signal: AbortSignal,
  ): Promise<AsyncIterable<unknown>> {
    const client = await this.#client(asked.key ?? '');
    const { data, response } = await client.chat.completions
      .create(bodyOf(model, request), { signal })
      .withResponse();
    const type = response.headers.get('content-type') ?? '';
    if (!/text\/event-stream/i.test(type)) {
      data.controller.abort();
      throw notTheProtocol(asked, `it sent ${type.split(';')[0] || 'something without a type'}`);
    }
    return data;
  }

  async #client(key: string): Promise<OpenAI> {
    trustSystemCertificates();
    const { OpenAI: Client } = await import('openai');
    return new Client({
      baseURL: this.#options.address,
      apiKey: key === '' ? 'none' : key,
      // ignore environment variables, which are meant for other programs
      organization: null,
      project: null,
      defaultHeaders: key === '' ? { authorization: null } : {},
      maxRetries: 0,
      timeout: 24 * 3600 * 1000, // Patience ends it
      logLevel: 'off', // it would log headers
      fetch: httpFetch,
    });
  }
}

let trusts = false;

/** Trusts the system's certificates in addition to Node's: a company's CA is usually installed there. */
function trustSystemCertificates(): void {
  if (trusts) return;
  trusts = true;
  const own = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...new Set([...own, ...tls.getCACertificates('system')])]);
}

function parsed(chunk: unknown, asked: FailedRequest): Chunk {
  const { data } = ChunkSchema.safeParse(chunk);
  if (!data) throw notTheProtocol(asked, 'its response does not match OpenAI’s schema');
  return data;
}

/** `max_tokens`, because common servers do not support its newer name. */
function bodyOf(model: string, { messages, maxTokens, temperature, topP, seed, tools, json }: RemoteRequest) {
  return {
    model,
    messages: [...messages],
    max_tokens: maxTokens,
    temperature,
    ...(topP !== undefined && { top_p: topP }),
    ...(seed !== undefined && { seed }),
    ...tools,
    ...(json && { response_format: formatOf(json) }),
    stream: true as const,
    stream_options: { include_usage: true },
  };
}

function formatOf({ schema }: NonNullable<RemoteRequest['json']>) {
  if (schema === undefined) return { type: 'json_object' as const };
  const held = typeof schema === 'boolean' ? {} : schema; // of the two, only true has values
  return { type: 'json_schema' as const, json_schema: { name: 'answer', schema: held, strict: true } };
}

function usageOf(told: NonNullable<Chunk['usage']>): RemoteUsage {
  return {
    promptTokens: told.prompt_tokens ?? null,
    cachedTokens: told.prompt_tokens_details?.cached_tokens ?? null,
    answerTokens: told.completion_tokens ?? null,
  };
}

function piecesOf(choice: Chunk['choices'][number] | undefined): RemotePiece[] {
  const { content, reasoning_content, reasoning, tool_calls } = choice?.delta ?? {};
  const thought = reasoning_content ?? reasoning ?? '';
  return [
    ...(thought === '' ? [] : [{ kind: 'thought' as const, text: thought }]),
    ...(content ? [{ kind: 'text' as const, text: content }] : []),
    ...(tool_calls ?? []).map(({ index, id, function: called }, i) => ({
      kind: 'call' as const,
      call: {
        index: index ?? i,
        id: id || undefined,
        name: called?.name || undefined,
        arguments: called?.arguments ?? '',
      },
    })),
  ];
}

function filtered({ host }: FailedRequest): KvasirError {
  return new KvasirError(
    'REMOTE_FAILED',
    `${host} stopped the answer: content filter.`,
    'Rephrase the question, or choose another model.',
  );
}

/** Aborts a request when the server has been silent for too long, and reports why it ended. */
class SilenceTimeout {
  readonly #seconds: number;
  readonly #controller = new AbortController();
  readonly #stopped: AbortSignal | undefined;
  readonly #onStop = (): void => this.#controller.abort();
  #timer: NodeJS.Timeout | undefined;
  #ranOut = false;

  constructor(seconds: number, stopped?: AbortSignal) {
    this.#seconds = seconds;
    this.#stopped = stopped;
    if (stopped?.aborted) this.#controller.abort();
    stopped?.addEventListener('abort', this.#onStop, { once: true });
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#ranOut = true;
      this.#controller.abort();
    }, this.#seconds * 1000);
  }

  /** OpenAI's client ends an aborted stream as if it were complete. */
  requireUnbroken(): void {
    this.signal.throwIfAborted();
  }

  explain(error: unknown, asked: FailedRequest): KvasirError {
    if (this.#stopped?.aborted) return new KvasirError('ABORTED', 'It was stopped.');
    return this.#ranOut ? tooSlow(asked, this.#seconds) : remoteFailure(error, asked);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stopped?.removeEventListener('abort', this.#onStop);
    this.#controller.abort();
  }
}
