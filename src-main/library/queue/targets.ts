import type { KvDtype } from '../../engine/engine.ts';
import { chunkKey } from '../../kvstore/store.ts';
import type { ActiveModel } from '../../models/active-model.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';

/** What chunks are made for now. */
export interface Target {
  fingerprint: string;
  chunkTokens: number;
  prefix: Int32Array;
  dtype: KvDtype;
}

const STATE_KEY = 'target';

/** The target of the model in use. */
export function targetOf({ model, chunkTokens }: ActiveModel, dtype: KvDtype): Target {
  return { fingerprint: model.info.fingerprint, chunkTokens, prefix: model.encodingPrefix, dtype };
}

export function isSameTarget(a: Target | undefined, b: Target): boolean {
  return (
    a !== undefined &&
    a.fingerprint === b.fingerprint &&
    a.chunkTokens === b.chunkTokens &&
    a.dtype === b.dtype
  );
}

/** What chunks were made for last: it holds until a model is loaded, so that lists are right from the first moment. */
export function savedTarget(catalogue: Catalogue): Target | undefined {
  const json = catalogue.state(STATE_KEY);
  if (json === undefined) return undefined;
  const saved = JSON.parse(json) as Omit<Target, 'prefix'> & { prefix: number[] };
  return { ...saved, prefix: Int32Array.from(saved.prefix) };
}

export function saveTarget(catalogue: Catalogue, target: Target): void {
  catalogue.setState(STATE_KEY, JSON.stringify({ ...target, prefix: [...target.prefix] }));
}

/** The library's chunk set for a target, if it has one. */
export function chunkSetOf(
  catalogue: Catalogue,
  libraryId: number,
  target: Target | undefined,
): number | undefined {
  return target && catalogue.chunkTable.findSet(libraryId, target.fingerprint, target.chunkTokens);
}

/** The store's key of a chunk. */
export function keyOf({ fingerprint, prefix, dtype }: Target, tokens: Int32Array): string {
  return chunkKey({ fingerprint, prefix, dtype, tokens });
}
