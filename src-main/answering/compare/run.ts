import type { Ttft } from '../../../src-shared/ttft.ts';
import type { AppendReport, KvDtype, Progress } from '../../engine/engine.ts';
import { blend, type BlendResult, type PromptPart } from '../../fusion/blender.ts';
import { engineStrategy } from '../../fusion/strategy.ts';
import type { ChunkCache, FusionModel, FusionSession } from '../../fusion/model.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import type { Clock } from '../../platform/clock.ts';
import { pushAll, ThoughtStream } from '../thoughts.ts';
import { ttftOf } from '../figures.ts';
import { split, type PromptMethod } from './prompt-methods.ts';

export interface RunOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
  session: FusionSession;
  answerTokens: number;
  /** The text at the end of the prompt. */
  behind: string;
  /** How many of the prompt's last tokens have their attention kept. */
  observe: number;
  clock: Clock;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** A prompt computed in one way; it is still in the session, followed by the beginning of the answer. */
export interface Outcome {
  way: PromptMethod;
  logits: Float32Array;
  thought: string;
  text: string;
  /** The generated tokens, thoughts included. */
  tokens: Int32Array;
  complete: boolean;
  ttftMs: Ttft;
  residentTokens: number;
  report: AppendReport;
  /** By position, 1: the token was part of a cached chunk; and it was recomputed. */
  cached: Uint8Array;
  recomputed: Uint8Array;
}

/** Computes a prompt in an emptied session and starts the answer with greedy sampling. ABORTED, OUT_OF_MEMORY, ENGINE_FAILED. */
export async function makePrompt(
  parts: readonly PromptPart[],
  way: PromptMethod,
  options: RunOptions,
): Promise<Outcome> {
  const { model, store, dtype, session, clock, signal, observe, onProgress } = options;
  const strategy = engineStrategy(way.strategy, model.info.kvLayers);
  const { before, turn } = split(parts, way.kind);
  const marks = new Marks(parts);
  session.truncate(0);
  const shared = { model, store, dtype, session, strategy, clock, signal };
  if (before.length > 0) marks.add(before, await blend(before, shared));
  const residentTokens = session.length;

  const started = clock.now();
  const blended = await blend(turn, { ...shared, observe, onProgress });
  marks.add(turn, blended);
  const logits = session.logits().slice(); // generation continues in the same memory
  const prefilled = clock.now();
  let firstTokenAt: number | undefined;
  const { tokens, stop } = await session.generate({
    maxTokens: options.answerTokens,
    signal,
    onToken: () => (firstTokenAt ??= clock.now()),
  });
  throwIfAborted(signal); // a truncated text must not be compared
  firstTokenAt ??= clock.now();
  const times = { firstToken: firstTokenAt - prefilled, total: firstTokenAt - started };
  const writing = new ThoughtStream(model, options.behind);
  const written = [await pushAll(writing, tokens), writing.flush()];
  return {
    way,
    logits,
    thought: joined(written.map(({ thought }) => thought)),
    text: joined(written.map(({ answer }) => answer)),
    tokens,
    complete: stop === 'eos',
    ttftMs: ttftOf(blended, { wait: 0, retrieve: 0, assemble: 0, planMs: 0, server: 0, ...times }),
    residentTokens,
    report: blended.report,
    cached: marks.cached,
    recomputed: marks.recomputed,
  };
}

function joined(texts: readonly string[]): string {
  return texts.join('').trim();
}

/** Which positions of a prompt were reused, and which of these were recomputed. */
class Marks {
  readonly cached: Uint8Array;
  readonly recomputed: Uint8Array;
  #at = 0;

  constructor(parts: readonly PromptPart[]) {
    const tokens = parts.reduce((sum, part) => sum + part.tokens.length, 0);
    this.cached = new Uint8Array(tokens);
    this.recomputed = new Uint8Array(tokens);
  }

  /** Records the next parts. */
  add(parts: readonly PromptPart[], { reuse, report }: BlendResult): void {
    for (const position of report.selected) this.recomputed[this.#at + position] = 1;
    const reused = reuse.values();
    for (const { kind, tokens } of parts) {
      const runs = kind === 'chunk' ? (reused.next().value?.runs ?? []) : [];
      for (const { begin, count } of runs) this.cached.fill(1, this.#at + begin, this.#at + begin + count);
      this.#at += tokens.length;
    }
  }
}
