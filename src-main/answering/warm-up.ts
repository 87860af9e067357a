import type { KvDtype, Segment, Strategy } from '../engine/engine.ts';
import type { PromptPart } from '../fusion/blender.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';

export interface RehearsalOptions {
  model: FusionModel;
  session: FusionSession;
  dtype: KvDtype;
  strategy: Strategy;
  signal: AbortSignal;
}

/** Tokens of the passage: every kind of work is done once, and even a large model is through soon. */
const PASSAGE = 32;

/** Positions whose memory is taken at a time: a question asked meanwhile waits no longer than for these. */
const WARMED = 256;

/**
 * Has the system give the memory of a prompt of so many tokens, which an answer would otherwise wait for. The model keeps it for the first
 * conversation. ABORTED, OUT_OF_MEMORY.
 */
export async function warmMemory(
  session: Pick<FusionSession, 'reserve' | 'warm'>,
  tokens: number,
  signal: AbortSignal,
): Promise<void> {
  await session.reserve(tokens);
  for (let begin = 0; begin < tokens; begin += WARMED) {
    throwIfAborted(signal);
    await session.warm(begin, Math.min(begin + WARMED, tokens));
  }
}

/**
 * Blends a prompt as an answer would, with one short passage in the place of all of them: encoded here and forgotten, so that no stored chunk
 * counts as used. ABORTED, OUT_OF_MEMORY, ENGINE_FAILED.
 */
export async function blendShort(parts: readonly PromptPart[], options: RehearsalOptions): Promise<void> {
  const { model, session, dtype, strategy, signal } = options;
  const passage = parts.find(({ kind }) => kind === 'chunk');
  const chunk = passage && (await model.encodeChunk(passage.tokens.slice(0, PASSAGE), dtype, { signal }));
  try {
    const segments = parts.flatMap((part): Segment[] => {
      if (part.kind === 'text') return [{ kind: 'compute', tokens: part.tokens }];
      return part === passage && chunk ? [{ kind: 'chunk', chunk }] : [];
    });
    await session.append(segments, strategy, { signal });
    await session.generate({ maxTokens: 1, signal });
  } finally {
    chunk?.dispose();
  }
}
