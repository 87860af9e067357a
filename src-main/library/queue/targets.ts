import type { KvDtype } from '../../engine/engine.ts';
import type { ChatModel, FusionModel } from '../../fusion/model.ts';
import { yieldToEventLoop } from '../../platform/abort.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';

export interface ChunkModel {
  model: FusionModel | (ChatModel & { readonly blends: false });
  chunkTokens: number;
}

/** The current target of chunking. */
export interface Target {
  fingerprint: string;
  chunkTokens: number;
  prefix: Int32Array;
  dtype: KvDtype;
  /** Whether KV is precomputed for it: not for a model whose passages cannot be blended. */
  blends: boolean;
}

const STATE_KEY = 'target';
/** Documents reset in one transaction. */
const BATCH = 500;

export function targetOf({ model, chunkTokens }: ChunkModel, dtype: KvDtype): Target {
  return {
    fingerprint: model.info.fingerprint,
    chunkTokens,
    prefix: model.encodingPrefix,
    dtype,
    blends: model.blends,
  };
}

export function isSameTarget(a: Target | undefined, b: Target): boolean {
  return (
    a !== undefined &&
    a.fingerprint === b.fingerprint &&
    a.chunkTokens === b.chunkTokens &&
    a.dtype === b.dtype
  );
}

/** The target as places name it. */
export function placeTarget({ fingerprint, chunkTokens, dtype }: Target): string {
  return `${fingerprint} ${chunkTokens} ${dtype}`;
}

/** The last target of the model in use: it applies until a model is loaded, so that lists are right from the start. */
export function savedTarget(catalogue: Catalogue): Target | undefined {
  return parse(catalogue.state(STATE_KEY));
}

export function saveTarget(catalogue: Catalogue, target: Target): void {
  catalogue.setState(STATE_KEY, serialise(target));
}

/**
 * Resets a library's documents to their phases for a target, unless they already have these. `force` resets them in any case, so that
 * everything stored is counted again.
 */
export async function putBack(
  catalogue: Catalogue,
  libraryId: number,
  target: Target,
  force = false,
): Promise<void> {
  if (!force && standsFor(catalogue, libraryId, target)) return;
  const key = `${STATE_KEY}:${libraryId}`;
  catalogue.setState(key, 'null'); // if killed meanwhile, it is repeated
  let after = 0;
  do {
    after = catalogue.documents.regress(libraryId, target, after, BATCH);
    await yieldToEventLoop();
  } while (after > 0);
  catalogue.setState(key, serialise(target));
}

/** Whether the phases of a library's documents are for a target. */
export function standsFor(catalogue: Catalogue, libraryId: number, target: Target): boolean {
  const saved = catalogue.state(`${STATE_KEY}:${libraryId}`) ?? catalogue.state(STATE_KEY);
  return isSameTarget(parse(saved), target);
}

function parse(json = 'null'): Target | undefined {
  const saved = JSON.parse(json) as (Omit<Target, 'prefix' | 'blends'> & LegacyTarget) | null;
  return saved ? { blends: true, ...saved, prefix: Int32Array.from(saved.prefix) } : undefined;
}

/** An older version's target says nothing about blending: all models supported it. */
interface LegacyTarget {
  prefix: number[];
  blends?: boolean;
}

function serialise(target: Target): string {
  return JSON.stringify({ ...target, prefix: [...target.prefix] });
}

export function chunkSetOf(
  catalogue: Catalogue,
  libraryId: number,
  target: Target | undefined,
): number | undefined {
  return target && catalogue.chunkTable.findSet(libraryId, target.fingerprint, target.chunkTokens);
}
