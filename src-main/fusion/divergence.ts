import type { CallOptions } from '../engine/engine.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { FusionSession } from './model.ts';
import { klDivergence, likeliest } from './quality.ts';

/**
 * How close a blended prompt comes to the full prefill, along the full prefill's greedy answer: the first token says little about the
 * following ones, and texts that diverge once have nothing left to compare.
 */

type AnswerSession = Pick<FusionSession, 'append' | 'generate' | 'logits'>;

/** A greedy answer. `tokens[i]` was chosen from `logits[i]`; there is one more element in `logits` if the model ended the answer. */
export interface GreedyAnswer {
  tokens: number[];
  logits: Float32Array[];
}

/** Generates after the most recently appended prompt. ABORTED, OUT_OF_MEMORY. */
export async function generateGreedy(
  session: AnswerSession,
  maxTokens: number,
  { signal }: Pick<CallOptions, 'signal'> = {},
): Promise<GreedyAnswer> {
  const written: GreedyAnswer = { tokens: [], logits: [] };
  while (written.tokens.length < maxTokens) {
    written.logits.push(session.logits().slice()); // generation continues in the same memory
    const { tokens } = await session.generate({ maxTokens: 1, signal });
    throwIfAborted(signal);
    const [token] = tokens;
    if (token === undefined) break;
    written.tokens.push(token);
  }
  return written;
}

/**
 * Logits at each position of an answer from `from` on, whatever this session would have generated; the answer's earlier tokens are already
 * in place. ABORTED, OUT_OF_MEMORY.
 */
export async function followGreedy(
  session: AnswerSession,
  answer: GreedyAnswer,
  { from = 0, ...options }: CallOptions & { from?: number } = {},
): Promise<Float32Array[]> {
  const logits: Float32Array[] = [];
  for (let place = from; place < answer.logits.length; place++) {
    logits.push(session.logits().slice());
    const token = answer.tokens[place];
    if (token === undefined || place + 1 === answer.logits.length) break;
    await session.append([{ kind: 'compute', tokens: Int32Array.of(token) }], { kind: 'full' }, options);
  }
  return logits;
}

/** Per position: KL(full prefill ‖ other) in nats, and whether both have the same most likely token. */
interface Divergence {
  kl: number[];
  agrees: boolean[];
}

export function divergenceOf(full: readonly Float32Array[], other: readonly Float32Array[]): Divergence {
  const pairs = other.flatMap((logits, i) => (full[i] ? [[full[i], logits] as const] : []));
  return {
    kl: pairs.map(([p, q]) => klDivergence(p, q)),
    agrees: pairs.map(([p, q]) => likeliest(p) === likeliest(q)),
  };
}
