import type { GgufInfo, KvDtype, Model, Session, SessionDeviation } from '../engine/engine.ts';
import { whyNotBlended } from '../../src-shared/blending.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { chunkKey, type ChunkStore } from '../kvstore/store.ts';

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
