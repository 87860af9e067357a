import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WaitingPrompts } from '../../src-main/answering/waiting-prompts.ts';
import { withModel } from '../../src-main/answering/with-model.ts';
import { Engine, type Model } from '../../src-main/engine/engine.ts';
import { keyFor } from '../../src-main/fusion/model.ts';
import { ChunkStore, type Lease } from '../../src-main/kvstore/store.ts';
import { Gate } from '../../src-main/platform/gate.ts';
import { answered, blendedSegments, forget, shippedStrategy, type ServeMethod } from './methods.ts';
import type { LibraryChunk, PromptShape, ServeRequest } from './workload.ts';

interface DiskOptions {
  shape: PromptShape;
  kvBytes: number;
  atOnce: number;
  /** Of the library's KV that fits the memory tier. */
  share: number;
}

/** How many of the placed chunks were in memory, by method. */
export interface DiskHits {
  method: string;
  memory: number;
  disk: number;
  /** Loaded while a request waited, and used. */
  ahead: number;
}

const { signal: NEVER } = new AbortController();
const DTYPE = 'f16';

/**
 * Blending from chunk files behind the app's gate and memory tier: requests that wait begin in call order, or together with those that
 * share their chunks, which are loaded meanwhile. `onHits` gets the hits of all requests at the end.
 */
export async function diskMethods(
  model: Model,
  library: readonly LibraryChunk[],
  options: DiskOptions,
  onHits: (hits: DiskHits) => void,
): Promise<ServeMethod[]> {
  const inOrder = await diskMethod('from disk, in call order', false, model, library, options, onHits);
  return [inOrder, await diskMethod('from disk, by shared chunks', true, model, library, options, onHits)];
}

async function diskMethod(
  name: string,
  isShared: boolean,
  model: Model,
  library: readonly LibraryChunk[],
  { shape, kvBytes, atOnce, share }: DiskOptions,
  onHits: (hits: DiskHits) => void,
): Promise<ServeMethod> {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-bench-'));
  const bytes = library.reduce((sum, { kv }) => sum + kv.bytes, 0);
  const ramBytes = share * bytes;
  const store = await ChunkStore.open({
    ...{ dir, files: Engine.open(), diskBudgetBytes: 2 * bytes, ramBudgetBytes: ramBytes },
  });
  for (const { tokens, kv } of library) await store.put(keyFor(model, DTYPE, { tokens }), kv);
  const active = { name: 'bench', model };
  const models = { active, current: () => Promise.resolve(active) };
  const gate = new Gate();
  gate.atOnce = atOnce;
  const waiting = new WaitingPrompts({
    ...{ models, store, words: { byWords: () => Promise.resolve([]) }, passages: { chunk: () => undefined } },
    settings: { current: { prefetch: true, dtype: DTYPE } },
    log: { debug: (message, fields) => console.error(message, fields) },
  });
  const chunksOf = (request: ServeRequest) => request.chunks.flatMap((i) => library[i] ?? []);
  const blend = async (session: ReturnType<Model['createSession']>, request: ServeRequest): Promise<void> => {
    const leases: Lease[] = [];
    try {
      for (const { tokens } of chunksOf(request)) {
        const lease = await store.acquire(keyFor(model, DTYPE, { tokens }), model);
        if (!lease) throw new Error('a chunk of the bench is not stored');
        leases.push(lease);
      }
      const segments = blendedSegments(
        leases.map(({ chunk }) => chunk),
        request,
        shape,
        model.info.vocabSize,
      );
      await session.append(segments, shippedStrategy(model));
    } finally {
      for (const lease of leases) lease.release();
    }
  };
  const method: ServeMethod = {
    name,
    serve: (request, began) => {
      const capacity = shape.context + shape.questionTokens + shape.answerTokens + 1;
      const wait = isShared ? () => waiting.add(() => chunksOf(request)) : undefined;
      return withModel({ models, gate }, { signal: NEVER, forProgram: true, wait }, () =>
        answered(model, { request, began, capacity, make: blend }),
      );
    },
    async forget() {
      await store.setBudget({ ramBytes: 0 });
      await store.setBudget({ ramBytes });
      await forget(model, kvBytes);
    },
    async close() {
      const { hits, prefetches } = store.stats();
      onHits({ method: name, memory: hits.ram, disk: hits.disk, ahead: prefetches.used });
      await store.forget(model);
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return method;
}
