import type { ChunkKv, GgufInfo, KvDtype, Model, Session, SessionDeviation } from '../engine/engine.ts';
import { whyNotBlended } from '../../src-shared/blending.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { chunkKey, type ChunkStore } from '../kvstore/store.ts';
import { sameTokens } from '../platform/token-bytes.ts';

/** The part of a session that fusing needs; the engine's Session implements it. */
export type FusionSession = Pick<
  Session,
  | 'length'
  | 'capacity'
  | 'disposed'
  | 'append'
  | 'logits'
  | 'generate'
  | 'truncate'
  | 'adopt'
  | 'reserve'
  | 'warm'
  | 'dispose'
> & {
  /** As in the engine; `other` must be of the same kind. */
  deviationFrom(other: FusionSession, begin: number, count: number): Promise<SessionDeviation>;
  fork(length: number): Promise<FusionSession>;
};

/** A chat model as libraries, settings and lists need it, wherever it runs; `tokenize` may only estimate the count. */
export type ChatModel = Pick<
  Model,
  'path' | 'encodingPrefix' | 'blends' | 'answersAtOnce' | 'bytesPerToken' | 'onDevice'
> & {
  readonly info: GgufInfo & Pick<Model['info'], 'fingerprint'>;
  tokenize(text: string): Int32Array;
};

/** The part of a model that services need; the engine's Model implements it. */
export type FusionModel = Pick<
  Model,
  | 'info'
  | 'path'
  | 'blends'
  | 'answersAtOnce'
  | 'tokenize'
  | 'detokenize'
  | 'encodingPrefix'
  | 'bytesPerToken'
  | 'bytesPerSession'
  | 'encodeChunk'
  | 'encodeChunks'
  | 'openChunk'
  | 'setKvBudget'
  | 'onDevice'
  | 'exportPrefix'
  | 'openPrefix'
  | 'importPrefix'
> &
  Partial<Pick<Model, 'receiveChunk'>> & {
    createSession(capacity: number): FusionSession;
  };

/** The part of the store that services need. */
export type ChunkCache = Pick<
  ChunkStore,
  | 'has'
  | 'isAway'
  | 'entry'
  | 'hasRoom'
  | 'found'
  | 'used'
  | 'put'
  | 'acquire'
  | 'borrow'
  | 'similar'
  | 'reportCorrupt'
  | 'reportUnreadable'
  | 'stats'
> & { readonly shared?: ChunkStore['shared'] };

/** MODEL_UNSUPPORTED, for features that only concern blending. */
export function requireBlending(name: string, { info }: Pick<FusionModel, 'info'>): void {
  if (info.obstacle === '') return;
  throw new KvasirError(
    'MODEL_UNSUPPORTED',
    whyNotBlended(name, info.obstacle),
    'Choose a model that blends.',
  );
}

/** A chunk's token ids, and its lead: those of the headings and the text that it is encoded after. */
export interface TokensWithLead {
  tokens: Int32Array;
  lead?: Int32Array | undefined;
}

/** The store's key for a chunk encoded by this model. */
export function keyFor(
  model: Pick<ChatModel, 'info' | 'encodingPrefix'>,
  dtype: KvDtype,
  { tokens, lead }: TokensWithLead,
): string {
  return chunkKey({ fingerprint: model.info.fingerprint, prefix: model.encodingPrefix, lead, dtype, tokens });
}

/** Whether a chunk is encoded after everything that another one is, and that one itself: one pass then encodes both. */
export function follows(next: TokensWithLead, { tokens, lead }: TokensWithLead): boolean {
  return sameTokens(next.lead ?? new Int32Array(), Int32Array.of(...(lead ?? []), ...tokens));
}

interface EncodeOptions {
  dtype: KvDtype;
  label: string;
  /** As for Model.encodeChunk. */
  priority?: number;
  /** As for ChunkStore.put. */
  ahead?: boolean;
  signal?: AbortSignal | undefined;
  /** The tokens of each pass, with those of the lead, and its milliseconds. */
  onEncoded?: (tokens: number, ms: number) => void;
}

/**
 * Computes the KV of chunks and stores it; those that follow each other are encoded in one pass. A chunk that is stored in f16 is
 * converted, which gives the same bytes in milliseconds. ABORTED, CACHE_FULL, DISK_FULL, STORE_READ_ONLY; the first chunks may be stored
 * by then.
 */
export async function encodeAndStore(
  model: FusionModel,
  store: ChunkCache,
  chunks: readonly TokensWithLead[],
  { dtype, label, priority, ahead, signal, onEncoded }: EncodeOptions,
): Promise<void> {
  const put = async (chunk: TokensWithLead, kv: ChunkKv): Promise<void> => {
    await store.put(keyFor(model, dtype, chunk), kv, { label, ahead });
  };
  const passes: TokensWithLead[][] = [];
  for (const chunk of chunks) {
    const exact = dtype === 'f16' ? undefined : keyFor(model, 'f16', chunk);
    const converted =
      exact !== undefined && store.has(exact)
        ? await store.borrow(exact, model, (kv) => kv.converted(dtype))
        : undefined;
    const last = passes.at(-1);
    if (converted) await put(chunk, converted).finally(() => converted.dispose());
    else if (last && follows(chunk, last.at(-1) as TokensWithLead)) last.push(chunk);
    else passes.push([chunk]);
  }
  for (const pass of passes) {
    const { lead } = pass[0] as TokensWithLead;
    const texts = pass.map(({ tokens }) => tokens);
    const started = performance.now();
    const encoded = await model.encodeChunks(texts, dtype, { lead, signal, priority });
    const rows = texts.reduce((sum, { length }) => sum + length, lead?.length ?? 0);
    onEncoded?.(rows, performance.now() - started);
    try {
      for (const [i, kv] of encoded.entries()) await put(pass[i] as TokensWithLead, kv);
    } finally {
      for (const kv of encoded) kv.dispose();
    }
  }
}
