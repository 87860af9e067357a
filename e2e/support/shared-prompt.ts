/** Prompts of two passages for machines that share their caches. */
import { type Model, type Strategy } from '../../src-main/engine/engine.ts';
import { blend, type BlendResult, type PromptPart } from '../../src-main/fusion/blender.ts';
import { encodeAndStore } from '../../src-main/fusion/encode-chunks.ts';
import { keyFor, type ChunkCache } from '../../src-main/fusion/model.ts';
import type { ChunkStore } from '../../src-main/kvstore/store.ts';

export const SMALL = { layers: 4, embd: 128, heads: 4, 'kv-heads': 2, 'head-dim': 32, ff: 256, vocab: 512 };
export const STRATEGY: Strategy = { kind: 'deviation', checkLayers: [1], ratios: [0.2] };

/** A prompt of two passages that take up several ranges each. */
export function prompt(of: Model, length = 300, round = 0): PromptPart[] {
  const ids = (count: number, seed: number) =>
    Int32Array.from(
      { length: count },
      (_, i) => 3 + (((seed + 3 * round) * 131 + i * (7 + seed + round)) % (of.info.vocabSize - 3)),
    );
  return [
    { kind: 'text', tokens: Int32Array.of(4, ...of.encodingPrefix) },
    { kind: 'chunk', tokens: ids(length, 1) },
    { kind: 'chunk', tokens: ids(length, 2) },
    { kind: 'text', tokens: ids(9, 3) },
  ];
}

export function keysOf(of: Model, parts: readonly PromptPart[]): string[] {
  return parts.flatMap((part) => (part.kind === 'chunk' ? [keyFor(of, 'f16', part)] : []));
}

export async function encodeAll(of: Model, store: ChunkStore, parts: readonly PromptPart[]): Promise<void> {
  for (const part of parts)
    if (part.kind === 'chunk') await encodeAndStore(of, store, [part], { dtype: 'f16', label: '' });
}

/** Blends the prompt like a question. */
export async function blended(
  model: Model,
  store: ChunkCache,
  parts: readonly PromptPart[],
  onAcquired?: () => void,
): Promise<BlendResult & { logits: Float32Array }> {
  await store.shared?.locate(keysOf(model, parts));
  const session = model.createSession(1024);
  try {
    const result = await blend(parts, {
      model,
      store,
      session,
      dtype: 'f16',
      strategy: STRATEGY,
      onAcquired,
    });
    return { ...result, logits: session.logits().slice() };
  } finally {
    session.dispose();
  }
}
