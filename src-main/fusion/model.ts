import type { Model, Session, SessionDeviation } from '../engine/engine.ts';
import { whyNotBlended } from '../../src-shared/blending.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { chunkKey, type ChunkStore } from '../kvstore/store.ts';
import type { KvDtype } from '../engine/engine.ts';

/** What fusing needs of a session; the engine's Session satisfies it. */
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
  /** As the engine's; `other` must be of the same kind. */
  deviationFrom(other: FusionSession, begin: number, count: number): Promise<SessionDeviation>;
  fork(length: number): Promise<FusionSession>;
};

/** What services need of a model; the engine's Model satisfies it. */
export type FusionModel = Pick<
  Model,
  | 'info'
  | 'path'
  | 'tokenize'
  | 'detokenize'
  | 'encodingPrefix'
  | 'bytesPerToken'
  | 'bytesPerSession'
  | 'encodeChunk'
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

/** What services need of the store. */
export type ChunkCache = Pick<
  ChunkStore,
  'has' | 'entry' | 'put' | 'acquire' | 'similar' | 'reportCorrupt' | 'stats'
> & { readonly shared?: ChunkStore['shared'] };

/** Whether passages' KV is computed by itself and blended: else every prompt is computed. */
export function canBlend({ info }: Pick<FusionModel, 'info'>): boolean {
  return info.engine !== 'llama' && info.engine !== 'remote';
}

/** Whether the model is on a server, which is sent text: nothing of a prompt is computed or kept here. */
export function isRemote({ info }: Pick<FusionModel, 'info'>): boolean {
  return info.engine === 'remote';
}

/** Each has a session of its own: more would take memory without being answered sooner. */
const MOST_AT_ONCE = 8;

/** How many answers this model writes at once: its turns are of our engine only, and a server has its own. */
export function answersAtOnce(model: Pick<FusionModel, 'info'> | undefined): number {
  return model && (canBlend(model) || isRemote(model)) ? MOST_AT_ONCE : 1;
}

/** MODEL_UNSUPPORTED, for what has to do with blending alone. */
export function requireBlending(name: string, { info }: Pick<FusionModel, 'info'>): void {
  if (info.obstacle === '' || canBlend({ info })) return;
  throw new KvasirError(
    'MODEL_UNSUPPORTED',
    whyNotBlended(name, info.obstacle),
    'Choose a model that blends.',
  );
}

/** MODEL_UNSUPPORTED, for what can only be measured where it is computed. */
export function requireHere(name: string, model: Pick<FusionModel, 'info'>): void {
  if (isRemote(model)) requireBlending(name, model);
}

/** A chunk's token ids, and its lead: those of the headings above it, which it is encoded behind. */
export interface LedTokens {
  tokens: Int32Array;
  lead?: Int32Array | undefined;
}

/** The store's key of a chunk encoded by this model. */
export function keyFor(
  model: Pick<FusionModel, 'info' | 'encodingPrefix'>,
  dtype: KvDtype,
  { tokens, lead }: LedTokens,
): string {
  return chunkKey({ fingerprint: model.info.fingerprint, prefix: model.encodingPrefix, lead, dtype, tokens });
}

/**
 * Computes a chunk's KV and stores it; `priority` as for Model.encodeChunk. ABORTED, DISK_FULL, STORE_READ_ONLY. Gives the bytes of KV; `onEncoded` is told the
 * milliseconds that computing took.
 */
export async function encodeAndStore(
  model: FusionModel,
  store: ChunkCache,
  { dtype, label, priority, ...chunk }: LedTokens & { dtype: KvDtype; label: string; priority?: number },
  signal?: AbortSignal,
  onEncoded?: (ms: number) => void,
): Promise<number> {
  const started = performance.now();
  const kv = await model.encodeChunk(chunk.tokens, dtype, { lead: chunk.lead, signal, priority });
  onEncoded?.(performance.now() - started);
  try {
    await store.put(keyFor(model, dtype, chunk), kv, { label });
    return kv.bytes;
  } finally {
    kv.dispose();
  }
}
