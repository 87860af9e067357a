import type { ModelEntry } from '../../src-shared/contract/models.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import { AnswerMaker } from '../answering/answer.ts';
import type { NamedModel } from '../answering/named-model.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import { contextLimit } from '../answering/choices.ts';
import type { Passages } from '../answering/passages.ts';
import type { Tables } from '../answering/tables/computed-passage.ts';
import type { ChunkCache, TokensWithLead } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { Core } from '../platform/core.ts';
import type { Retrieval } from '../retrieval/types.ts';
import { Stopwatch } from '../answering/stopwatch.ts';
import type { WaitingPrompts } from '../answering/waiting-prompts.ts';
import { askLibrary, askModel, clientPrompt, likelyChunks } from './ask.ts';
import { callsTools } from './calls-tools.ts';
import { complete, type CompletionParts } from './completion.ts';
import { libraryNamed, listedModels, requireInUse, type ListedModel, type NamedLibrary } from './names.ts';
import { RequestQueue } from './request-queue.ts';
import type { CompletionRequest, CompletionResult, CompletionRun } from './types.ts';

/** A prompt's token ids, and how many may be in the context together with the answer. */
interface TokenizedPrompt {
  tokens: number[];
  contextTokens: number;
}

interface CompletionServiceOptions extends CompletionParts, Pick<Core, 'gate' | 'log'> {
  models: {
    current(): Promise<NamedModel>;
    readonly active: NamedModel | undefined;
  };
  listed: () => Pick<ModelEntry, 'name' | 'role' | 'active'>[];
  settings: { readonly current: Settings };
  libraries: () => readonly NamedLibrary[];
  retrieval: Retrieval;
  passages: Passages;
  tables?: Tables | undefined;
  store: ChunkCache;
  planner: Planner;
  prefixes: StoredPrefixes;
  /** Loads the chunks of requests that wait; absent: they begin in call order. */
  waiting?: Pick<WaitingPrompts, 'add' | 'search'> | undefined;
  clock?: Clock;
}

/** Answers requests of other programs, over any wire format, with the model in use or from a library. */
export class CompletionService {
  readonly #options: CompletionServiceOptions;
  readonly #maker: AnswerMaker;
  readonly #requests: RequestQueue<NamedModel>;
  readonly #clock: Clock;
  readonly #listeners = new Set<(result: CompletionResult) => void>();

  constructor(options: CompletionServiceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#maker = new AnswerMaker(options);
    this.#requests = new RequestQueue(options);
  }

  /** Stops all requests. */
  close(): Promise<void> {
    return this.#requests.close();
  }

  /** Requests waiting for the model, and those using it. */
  get queue(): { waiting: number; running: number } {
    return { waiting: this.#requests.waiting, running: this.#requests.running };
  }

  /** Whether a model is loaded. */
  get isReady(): boolean {
    return this.#options.models.active !== undefined;
  }

  /** Whether the model in use is known to call tools. */
  get callsTools(): boolean {
    const { active } = this.#options.models;
    return active !== undefined && callsTools(active);
  }

  /** The available models and libraries. */
  models(): ListedModel[] {
    return listedModels(this.#options.listed(), this.#options.libraries());
  }

  /** NOT_FOUND; its message lists the available models. */
  model(name: string): ListedModel {
    const found = this.models().find((each) => each.name === name);
    if (found) return found;
    const { models, listed, libraries } = this.#options;
    libraryNamed(name, libraries);
    requireInUse(name, models.active, listed);
    return { name, kind: 'chat' };
  }

  /** Calls the listener with each finished answer. Returns a function that ends the subscription. */
  onDone(listener: (result: CompletionResult) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * NOT_FOUND for a model that is not in use, CONTEXT_OVERFLOW, NO_MATCH for a library, BAD_ARGUMENT, CONFLICT when too many wait, ABORTED,
   * OUT_OF_MEMORY, ENGINE_FAILED.
   */
  async complete(request: CompletionRequest, run: CompletionRun): Promise<CompletionResult> {
    const { listed, libraries, settings, planner, openSession, watch, waiting } = this.#options;
    const library = libraryNamed(request.model, libraries);
    const stopwatch = new Stopwatch(this.#clock);
    const onWait = waiting && (() => waiting.add((active) => this.#chunksOf(request, library, active)));
    const work = async (active: NamedModel, signal: AbortSignal): Promise<CompletionResult> => {
      if (!library) requireInUse(request.model, active, listed);
      const wait = stopwatch.lap();
      run.onBegin?.();
      const context = { ...active, settings: settings.current, planner };
      await this.#requireFits(request.prompt, active.model);
      const asked = library
        ? await askLibrary(request, library, {
            ...context,
            maker: this.#maker,
            passages: this.#options.passages,
            stopwatch,
            signal,
          })
        : askModel(request, context);
      const retrieve = library ? stopwatch.lap() : 0;
      const ask = { ...asked, ...active, stopwatch, before: { wait, retrieve } };
      return complete(request, ask, { maker: this.#maker, openSession, watch }, { ...run, signal });
    };
    const result = await this.#requests.take(run.signal, work, onWait);
    for (const listener of this.#listeners) listener(result);
    return result;
  }

  /**
   * The token ids of a prompt for the model in use; `bos`: whether text gets the model's BOS. NOT_FOUND, BAD_ARGUMENT where they are
   * unknown: for a library, and for a remote model.
   */
  async tokenize(
    { model: name, prompt, think, tools }: Pick<CompletionRequest, 'model' | 'prompt' | 'think' | 'tools'>,
    bos: boolean,
  ): Promise<TokenizedPrompt> {
    const { models, listed, settings, libraries } = this.#options;
    if (libraryNamed(name, libraries)) throw notCounted();
    const { model } = requireInUse(name, await models.current(), listed);
    const backend = backendOf(model);
    await this.#requireFits(prompt, model, MOST_COUNTED);
    const laidOut = backend.layOut({
      ...clientPrompt(prompt),
      think: think ?? settings.current.think,
      tools,
      contextTokens: Infinity,
    });
    const tokens = backend.tokensOf(laidOut, bos || !('text' in prompt));
    return { tokens, contextTokens: contextLimit(model, settings.current.contextTokens) };
  }

  /** The chunks that a waiting request most likely places. The errors of laying out its prompt. */
  async #chunksOf(
    request: CompletionRequest,
    library: NamedLibrary | undefined,
    active: NamedModel,
  ): Promise<readonly TokensWithLead[]> {
    const { settings, planner, waiting } = this.#options;
    await this.#requireFits(request.prompt, active.model);
    const context = { ...active, settings: settings.current, planner };
    return likelyChunks(request, library, {
      ...context,
      search: async (...asked) => (await waiting?.search(...asked)) ?? [],
    });
  }

  /** CONTEXT_OVERFLOW for a prompt that is far too long, without tokenising all of it. */
  #requireFits(prompt: CompletionRequest['prompt'], model: NamedModel['model'], least = 0): Promise<void> {
    const parts = 'text' in prompt ? prompt.text : prompt.messages.flatMap((message) => message.parts);
    const limit = contextLimit(model, this.#options.settings.current.contextTokens);
    return backendOf(model).requireFits(
      parts.map(({ text }) => text),
      Math.max(limit, least),
    );
  }
}

/** A prompt of at most this many tokens is counted, whatever the context. */
const MOST_COUNTED = 131_072;

function notCounted(): KvasirError {
  return new KvasirError(
    'BAD_ARGUMENT',
    'A library’s prompt is known only after its search: its tokens cannot be counted in advance.',
    'The usage of an answer contains the token counts.',
  );
}
