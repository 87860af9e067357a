import type { Settings } from '../../src-shared/settings.ts';
import type { KvDtype, Segment, Strategy } from '../engine/engine.ts';
import type { PromptPart } from '../fusion/blender.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { AnswerMaker, type AnswerMakerOptions } from './answer.ts';
import { choicesOf } from './choices.ts';
import { conversation } from './ask.ts';
import { tokenPrompt } from './backends/token-prompt.ts';
import { partsFrom, SessionTokens } from './session-tokens.ts';

/** Everyday words, so that most libraries have passages for them. */
const QUESTION = 'What is this about, and who was there first?';
const ANYWHERE = { libraryIds: [], documentIds: [] };

interface WarmUpOptions extends AnswerMakerOptions {
  model: FusionModel;
  settings: Settings;
  /** A session that only the warm-up uses; disposed here. OUT_OF_MEMORY. */
  openSession: (model: FusionModel, capacity: number) => FusionSession;
  signal: AbortSignal;
}

/**
 * Runs the steps of an answer without leaving one, so that everything compiled, opened or allocated on first use is ready for the first
 * question. It uses no stored chunk, but loads the prompt's stored prefix. False when there were no passages. ABORTED, OUT_OF_MEMORY.
 */
export async function warmUp(options: WarmUpOptions): Promise<boolean> {
  const { model, settings, planner, prefixes, signal } = options;
  const choices = choicesOf({}, settings, model, planner);
  const { strategy, topK, dtype } = choices;
  const passages = await new AnswerMaker(options).find(QUESTION, { scope: ANYWHERE, topK, signal });
  const prompt = tokenPrompt(model, conversation(QUESTION, passages, { ...choices, maxTokens: 1 }));
  const held = new SessionTokens(options.openSession(model, prompt.tokens + 1));
  try {
    const { session } = held;
    const { residentTokens: past } = await held.resume(prompt.parts, { model, strategy, prefixes });
    const rest = partsFrom(prompt.parts, past);
    const { decision } = await planner.plan(rest, { model, dtype, past, strategy });
    await warmMemory(session, prompt.tokens, signal);
    await blendShort(rest, { model, session, dtype, strategy: decision.strategy, signal });
  } finally {
    held.dispose();
  }
  return passages.length > 0;
}

interface ShortBlend {
  model: FusionModel;
  session: FusionSession;
  dtype: KvDtype;
  strategy: Strategy;
  signal: AbortSignal;
}

/** Tokens of the passage: enough to exercise every kind of work once, few enough for a large model to finish soon. */
const PASSAGE = 32;

/** Positions whose memory is allocated at a time: a question asked meanwhile waits for no more than these. */
const WARMED = 256;

/**
 * Makes the system allocate the memory of a prompt of this many tokens, which an answer would otherwise wait for. The model keeps it for
 * the first conversation. ABORTED, OUT_OF_MEMORY.
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
 * Blends a prompt as an answer would, with one short passage instead of all: encoded here and discarded, so that no stored chunk counts as
 * used. ABORTED, OUT_OF_MEMORY, ENGINE_FAILED.
 */
async function blendShort(parts: readonly PromptPart[], options: ShortBlend): Promise<void> {
  const { model, session, dtype, strategy, signal } = options;
  const passage = parts.find(({ kind }) => kind === 'chunk');
  const tokens = passage?.tokens.slice(0, PASSAGE);
  const chunk = tokens && model.blends ? await model.encodeChunk(tokens, dtype, { signal }) : undefined;
  try {
    const segments = parts.flatMap((part): Segment[] => {
      if (part.kind === 'text') return [{ kind: 'compute', tokens: part.tokens }];
      if (part !== passage || !tokens) return [];
      return [chunk ? { kind: 'chunk', chunk } : { kind: 'compute', tokens }];
    });
    await session.append(segments, strategy, { signal });
    await session.generate({ maxTokens: 1, signal });
  } finally {
    chunk?.dispose();
  }
}
