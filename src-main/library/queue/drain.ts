import type { LibraryPhase, LibraryProgress, PrecomputeReport } from '../../../src-shared/library.ts';
import type { KvDtype } from '../../engine/engine.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { systemClock } from '../../platform/clock.ts';
import { Pace } from '../../platform/pace.ts';
import { DocumentSteps, type StepParts } from './steps.ts';
import { keyOf, putBack, targetOf, type ChunkModel, type Target } from './targets.ts';

export interface DrainParts extends StepParts, ChunkModel {
  libraryId: number;
  dtype: KvDtype;
}

export interface DrainRun {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LibraryProgress) => void) | undefined;
}

/**
 * Takes the queue's steps for one library and one model until nothing is left to do, whether the queue is paused or not. It
 * ends early with ABORTED, or with the failure of the surroundings that lanes would wait for (DISK_FULL, STORE_READ_ONLY,
 * OUT_OF_MEMORY); what was done stays.
 */
export class Drain {
  /** Documents with a new text. */
  updated = 0;
  readonly #parts: DrainParts;
  readonly #target: Target;
  readonly #steps: DocumentSteps;
  readonly #signal: AbortSignal;
  readonly #onProgress: DrainRun['onProgress'];
  /** Chunks to compute, and what came of them. */
  readonly #work = { missing: 0, computed: 0, tokens: 0, leftOutTokens: 0 };

  constructor(parts: DrainParts, { signal = new AbortController().signal, onProgress }: DrainRun) {
    const { model, chunkTokens } = parts;
    const active = { model, chunkTokens };
    const target = targetOf(active, parts.dtype);
    this.#parts = parts;
    this.#target = target;
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.#steps = new DocumentSteps({
      ...parts,
      models: { active },
      ready: () => Promise.resolve({ active, target }),
      onRead: (outcome) => (this.updated += outcome === 'new' ? 1 : 0),
      onComputed: (tokens) => this.#computed(tokens),
      onLeftOut: (tokens) => (this.#work.leftOutTokens += tokens),
    });
  }

  /** Reads and cuts all documents, of which there are `total`; `anew`: what is stored of them is counted again. */
  async read(total: number, anew: boolean): Promise<void> {
    const { catalogue, libraryId } = this.#parts;
    await putBack(catalogue, libraryId, this.#target, anew);
    for (let done = 0, more = true; more;) {
      throwIfAborted(this.#signal);
      this.tell('reading', done, total);
      more = await this.#steps.read(this.#signal);
      if (!(await this.#steps.cut(this.#signal))) continue;
      more = true;
      done++;
    }
  }

  /** Computes what the store does not have of a set's chunks and the disk budget can hold. */
  async precompute(chunkSetId: number): Promise<PrecomputeReport> {
    const { catalogue, store, model, dtype, clock = systemClock } = this.#parts;
    const keys = new Set<string>();
    const pace = new Pace();
    for (const { tokens } of catalogue.chunks(chunkSetId)) {
      keys.add(keyOf(this.#target, tokens));
      await pace.step(this.#signal);
    }
    const work = this.#work;
    work.missing = [...keys].filter((key) => !store.has(key)).length;
    const started = clock.now();
    this.tell('precomputing', 0, work.missing);
    while (await this.#steps.compute(this.#signal)) throwIfAborted(this.#signal);
    return {
      chunks: keys.size,
      computed: work.computed,
      stored: keys.size - work.missing,
      tokens: work.tokens,
      bytes: work.tokens * model.bytesPerToken(dtype),
      ms: clock.now() - started,
      overBudgetBytes: work.leftOutTokens * model.bytesPerToken(dtype),
    };
  }

  tell(phase: LibraryPhase, done: number, total: number): void {
    const secondsLeft = this.#steps.meter.secondsLeft(0) ?? undefined;
    this.#onProgress?.({ phase, done, total, tokens: this.#work.tokens, secondsLeft });
  }

  #computed(tokens: number): void {
    this.#work.computed++;
    this.#work.tokens += tokens;
    this.tell('precomputing', this.#work.computed, this.#work.missing);
  }
}
