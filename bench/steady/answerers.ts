import { readFileSync, writeFileSync } from 'node:fs';
import {
  ChunkKv,
  type ChunkHeader,
  type Engine,
  type KvDtype,
  type Model,
} from '../../src-main/engine/engine.ts';
import { blend, type PromptPart } from '../../src-main/fusion/blender.ts';
import { keyFor } from '../../src-main/fusion/model.ts';
import type { CostModel } from '../../src-main/fusion/planning/cost-model.ts';
import { Planner, type Plan } from '../../src-main/fusion/planning/planner.ts';
import { prefixHash } from '../../src-main/kvstore/hash.ts';
import type { ChunkFiles, ChunkOpener, ChunkStore } from '../../src-main/kvstore/store.ts';
import type { SteadyChunk, SteadyQuestion } from './questions.ts';

type StoredKv = Pick<ChunkKv, 'save' | 'dispose'>;

/** Answers questions: for real, or by the cost model. Blending is planned as in the app, before calibration. */
export abstract class Answerer {
  abstract readonly files: ChunkFiles;
  protected readonly model: Model;
  protected readonly costs: CostModel;
  protected readonly dtype: KvDtype;

  /** `costs`: those of the model, profiled. `dtype`: how chunks are stored. */
  constructor(model: Model, costs: CostModel, dtype: KvDtype) {
    this.model = model;
    this.costs = costs;
    this.dtype = dtype;
  }

  keyOf(chunk: SteadyChunk): string {
    return keyFor(this.model, this.dtype, chunk);
  }

  bytesOf({ tokens }: SteadyChunk): number {
    return tokens.length * this.model.bytesPerToken(this.dtype);
  }

  /** The caller disposes of the result. */
  abstract encode(chunk: SteadyChunk): Promise<StoredKv> | StoredKv;

  /** Milliseconds to the first token by prefill, with the KV of the first `past` passages in memory. */
  abstract prefill(question: SteadyQuestion, past: number): Promise<number> | number;

  /** The same by blending what the store has. */
  async blend(question: SteadyQuestion, store: ChunkStore): Promise<number> {
    const planner = new Planner({ costs: this.costs, store, calibration: () => undefined });
    const how = { model: this.model, dtype: this.dtype, past: 0, strategy: { kind: 'auto' } } as const;
    const plan = await planner.plan(this.partsOf(question), how);
    return this.run(plan, { planner, store, requestClass: question.class });
  }

  protected abstract run(
    plan: Plan,
    by: { planner: Planner; store: ChunkStore; requestClass: string },
  ): Promise<number>;

  protected partsOf({ passages, text }: SteadyQuestion): PromptPart[] {
    return [
      { kind: 'text', tokens: this.model.encodingPrefix },
      ...passages.map(({ tokens, lead }): PromptPart => ({ kind: 'chunk', tokens, lead })),
      { kind: 'text', tokens: this.model.tokenize(text) },
    ];
  }
}

/** Chunks are read from files in the page cache. */
export class MeasuredAnswerer extends Answerer {
  readonly files: Engine;

  constructor(engine: Engine, model: Model, costs: CostModel, dtype: KvDtype) {
    super(model, costs, dtype);
    this.files = engine;
  }

  encode({ tokens, lead }: SteadyChunk): Promise<ChunkKv> {
    return this.model.encodeChunk(tokens, this.dtype, { lead });
  }

  async prefill(question: SteadyQuestion, past: number): Promise<number> {
    const parts = this.partsOf(question);
    const resident = past === 0 ? 0 : 1 + past;
    return this.#session(parts, async (session) => {
      if (resident > 0) await session.append([computed(parts.slice(0, resident))], { kind: 'full' });
      const started = performance.now();
      await session.append([computed(parts.slice(resident))], { kind: 'full' });
      await session.generate({ maxTokens: 1 });
      return performance.now() - started;
    });
  }

  protected run(plan: Plan, { planner, ...by }: Parameters<Answerer['run']>[1]): Promise<number> {
    const { model, parts, decision } = { ...plan, model: this.model };
    return this.#session(parts, async (session) => {
      const started = performance.now();
      const { strategy } = decision;
      const result = await blend(parts, { ...by, model, session, dtype: this.dtype, strategy });
      await session.generate({ maxTokens: 1 });
      const ms = performance.now() - started;
      planner.done(plan, result);
      return ms;
    });
  }

  async #session<T>(
    parts: readonly PromptPart[],
    work: (session: ReturnType<Model['createSession']>) => Promise<T>,
  ): Promise<T> {
    const session = this.model.createSession(parts.reduce((sum, { tokens }) => sum + tokens.length, 2));
    try {
      return await work(session);
    } finally {
      session.dispose();
    }
  }
}

function computed(parts: readonly PromptPart[]): { kind: 'compute'; tokens: Int32Array } {
  return { kind: 'compute', tokens: Int32Array.from(parts.flatMap(({ tokens }) => [...tokens])) };
}

/** Chunk files hold a header, and count as if they held the KV. */
export class PredictedAnswerer extends Answerer {
  readonly files: ChunkFiles = {
    readChunkHeader: (path) => Promise.resolve(readHeader(path)),
    verifyChunk: () => Promise.resolve(),
  };

  encode(chunk: SteadyChunk): StoredKv {
    const { fingerprint, layers } = this.model.info;
    const header = {
      ...{ version: 1, fingerprint, dtype: this.dtype, layers, fileBytes: 0 },
      prefixHash: prefixHash(this.model.encodingPrefix, chunk.lead),
      tokens: [...chunk.tokens],
    };
    return {
      save: (path) => {
        writeFileSync(path, JSON.stringify(header));
        return Promise.resolve(this.bytesOf(chunk));
      },
      dispose: () => undefined,
    };
  }

  prefill(question: SteadyQuestion, past: number): number {
    const lengths = this.partsOf(question).map(({ tokens }) => tokens.length);
    const sum = (some: readonly number[]): number => some.reduce((total, each) => total + each, 0);
    const resident = past === 0 ? 0 : 1 + past;
    const [before, after] = [sum(lengths.slice(0, resident)), sum(lengths.slice(resident))];
    return known(this.costs.fullPrefill(this.model.info, after, before));
  }

  protected async run(
    { parts, decision }: Plan,
    { store, requestClass }: Parameters<Answerer['run']>[1],
  ): Promise<number> {
    const request = {};
    let offset = 0;
    for (const { kind, compute, tokens, lead } of parts) {
      const access = { class: requestClass, offset, request };
      offset += tokens.length;
      if (kind === 'text') continue;
      const key = keyFor(this.model, this.dtype, { tokens, lead });
      if (compute === true || decision.strategy.kind === 'full') store.used(key, access);
      else (await store.acquire(key, OPENER, access))?.release();
    }
    return known(decision.predicted?.total ?? decision.predictedFullMs);
  }
}

function known(ms: number | null): number {
  if (ms === null) throw new Error('The cost model does not know this model yet.');
  return ms;
}

function readHeader(path: string): ChunkHeader {
  const header = JSON.parse(readFileSync(path, 'utf8')) as Omit<ChunkHeader, 'tokens'> & { tokens: number[] };
  return { ...header, tokens: Int32Array.from(header.tokens) };
}

const OPENER: ChunkOpener = {
  openChunk(path) {
    const { tokens, dtype } = readHeader(path);
    const native = { tokens, dtype, bytes: 0, inMemory: false, dispose: () => undefined };
    return Promise.resolve(new ChunkKv(native as unknown as ChunkKv['native']));
  },
};
