import { KvasirError } from '../../src-shared/errors.ts';
import type { Workload, WorkloadOptions } from '../../src-main/kvstore/eviction/workload.ts';
import { nodeFs } from '../../src-main/kvstore/files.ts';
import { ChunkStore, type PolicyName } from '../../src-main/kvstore/store.ts';
import type { Answerer } from './answerers.ts';
import type { SteadyChunk, SteadyQuestion } from './questions.ts';

/** What methods need of an answerer. */
type Answers = Pick<Answerer, 'files' | 'keyOf' | 'bytesOf' | 'encode' | 'prefill' | 'blend'>;

/** A question answered by a method. */
export interface MethodAnswer {
  ms: number;
  tokens: number;
  cachedTokens: number;
  heldBytes: number;
  /** By the method up to now. */
  writtenBytes: number;
}

export interface Method {
  name: string;
  answer(question: SteadyQuestion): Promise<MethodAnswer>;
  close?(): Promise<void>;
}

export function fullPrefill(answerer: Pick<Answers, 'prefill'>): Method {
  return {
    name: 'none (full prefill)',
    answer: async (question) => ({
      ...{ ms: await answerer.prefill(question, 0), tokens: tokensOf(question.passages) },
      ...{ cachedTokens: 0, heldBytes: 0, writtenBytes: 0 },
    }),
  };
}

/**
 * Prefix caching: passages count while all before them in the prompt are the same as in an earlier one. Least recently
 * used first, the end of a prompt before its beginning.
 */
export function prefixCaching(answerer: Pick<Answers, 'prefill' | 'bytesOf'>, budget: number): Method {
  const kept = new Map<string, number>(); // in order of use
  let heldBytes = 0;
  let writtenBytes = 0;
  return {
    name: 'prefix caching',
    async answer(question) {
      const { passages } = question;
      const prefixes = passages.map((_, i) =>
        passages
          .slice(0, i + 1)
          .map(({ id }) => id)
          .join(' '),
      );
      const miss = prefixes.findIndex((prefix) => !kept.has(prefix));
      const past = miss < 0 ? passages.length : miss;
      const ms = await answerer.prefill(question, past);
      for (const [i, prefix] of [...prefixes.entries()].reverse()) {
        const bytes = answerer.bytesOf(passages[i] as SteadyChunk);
        if (!kept.delete(prefix)) {
          heldBytes += bytes;
          writtenBytes += bytes;
        }
        kept.set(prefix, bytes);
      }
      for (const [prefix, bytes] of kept) {
        if (heldBytes <= budget) break;
        kept.delete(prefix);
        heldBytes -= bytes;
      }
      const cachedTokens = tokensOf(passages.slice(0, past));
      return { ms, tokens: tokensOf(passages), cachedTokens, heldBytes, writtenBytes };
    },
  };
}

export interface StoreMethodOptions {
  name: string;
  answerer: Answers;
  dir: string;
  budget: number;
  policy: PolicyName;
  /** The library, computed ahead of the first question as far as it fits; absent: nothing is. */
  ahead?: readonly SteadyChunk[] | undefined;
  /** Whether what questions found is computed, too, between them. */
  places: boolean;
  /** For ablations. */
  makeWorkload?: ((options: WorkloadOptions) => Workload) | undefined;
}

/** The chunk store with blending, in the order of the app: answer, store what was missing, compute what was found. */
export async function storeMethod(options: StoreMethodOptions): Promise<Method> {
  const { name, answerer, budget, policy, ahead = [], places, dir, makeWorkload } = options;
  let now = 0;
  let writtenBytes = 0;
  const store = await ChunkStore.open({
    ...{ dir, policy, makeWorkload, files: answerer.files, diskBudgetBytes: budget, ramBudgetBytes: 0 },
    clock: () => now,
    fs: { ...nodeFs, syncDir: () => Promise.resolve() }, // nothing here has to survive a power cut
  });
  const put = async (chunk: SteadyChunk, isAhead: boolean): Promise<void> => {
    const key = answerer.keyOf(chunk);
    if (store.has(key) || (isAhead && !store.hasRoom(answerer.bytesOf(chunk), key))) return;
    const kv = await answerer.encode(chunk);
    try {
      await store.put(key, kv, { ahead: isAhead });
      writtenBytes += answerer.bytesOf(chunk);
    } catch (error) {
      if (!(error instanceof KvasirError && error.code === 'CACHE_FULL')) throw error; // as the app's queue
    } finally {
      kv.dispose();
    }
  };
  for (const chunk of ahead) await put(chunk, true);
  return {
    name,
    async answer(question) {
      now = question.at;
      const { passages, below } = question;
      const cachedTokens = tokensOf(passages.filter((chunk) => store.has(answerer.keyOf(chunk))));
      const ms = await answerer.blend(question, store);
      for (const chunk of passages) await put(chunk, false);
      for (const chunk of places ? below : []) {
        store.found(answerer.keyOf(chunk));
        await put(chunk, true);
      }
      return { ms, tokens: tokensOf(passages), cachedTokens, heldBytes: store.stats().bytes, writtenBytes };
    },
    close: () => store.close(),
  };
}

function tokensOf(chunks: readonly SteadyChunk[]): number {
  return chunks.reduce((sum, { tokens }) => sum + tokens.length, 0);
}
