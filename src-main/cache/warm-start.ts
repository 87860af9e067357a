import type { ChunkEntry, ChunkStore } from '../kvstore/store.ts';
import type { Model } from '../engine/engine.ts';
import type { ActiveModel, ModelSource } from '../models/active-model.ts';
import { yieldToEventLoop } from '../platform/abort.ts';
import type { EventBus } from '../platform/event-bus.ts';
import type { Gate } from '../platform/gate.ts';
import type { Logger } from '../platform/logger.ts';
import { RecurringTask } from '../platform/recurring-task.ts';
import type { SettingsService } from '../platform/settings-service.ts';

interface WarmStartOptions {
  store: Pick<ChunkStore, 'list' | 'prefetch'>;
  models: Pick<ModelSource<Model>, 'active' | 'onChange'>;
  settings: Pick<SettingsService, 'current'>;
  events: EventBus;
  gate: Gate;
  log: Logger;
  /** Runs once through the steps of a question; false when there were no documents for it yet. */
  warmUp: (signal: AbortSignal) => Promise<boolean>;
  /** Minimum milliseconds between two rounds. */
  pauseMs?: number;
}

const PAGE = 256;
const PAUSE_MS = 1000;

/**
 * Spares the first question costs that only a first one has, at the lowest priority: fills free memory with the most recently used or
 * created chunks, after a model was activated and while new ones are computed, and rehearses one question per model.
 */
export class WarmStart {
  readonly #options: WarmStartOptions;
  readonly #task: RecurringTask;
  #rehearsed: unknown;

  constructor(options: WarmStartOptions) {
    this.#options = options;
    this.#task = new RecurringTask({
      work: (signal) => this.#round(signal),
      pauseMs: options.pauseMs ?? PAUSE_MS,
      onFailed: (error) => options.log.warn('warm-start-stopped', { error: String(error) }),
    });
    const { soon } = this.#task;
    this.#task.until([
      options.models.onChange(soon),
      options.events.on(({ topic }) => {
        if (topic === 'queue.status') soon();
      }),
    ]);
  }

  /** Resolves when nothing is being loaded. */
  idle(): Promise<void> {
    return this.#task.idle();
  }

  close(): Promise<void> {
    return this.#task.close();
  }

  async #round(ended: AbortSignal): Promise<void> {
    const { active } = this.#options.models;
    if (!active) return;
    await this.#fillMemory(active, ended);
    await this.#warmUp(active, ended);
  }

  /** Ends when memory is full, or at a page with nothing new: everything after it was loaded before. */
  async #fillMemory(active: ActiveModel<Model>, ended: AbortSignal): Promise<void> {
    const { store, settings } = this.#options;
    const { fingerprint } = active.model.info;
    for (let offset = 0; ; offset += PAGE) {
      const page = store.list({ kind: 'chunk', fingerprint, limit: PAGE, offset });
      const missing = page.filter(({ inRam, dtype }) => !inRam && dtype === settings.current.dtype);
      for (const entry of missing) if (!(await this.#bring(entry, active, ended))) return;
      if (page.length < PAGE || missing.length === 0) return;
      await yieldToEventLoop();
    }
  }

  async #warmUp({ model }: ActiveModel<Model>, ended: AbortSignal): Promise<void> {
    if (this.#rehearsed === model) return;
    const { gate, warmUp } = this.#options;
    if (await gate.background(warmUp, ended)) this.#rehearsed = model;
  }

  /** False when there is no room, or another model is in use. */
  #bring({ key }: ChunkEntry, active: ActiveModel<Model>, ended: AbortSignal): Promise<boolean> {
    const { gate, models, store } = this.#options;
    return gate.background(async () => {
      if (models.active?.model !== active.model) return false;
      return (await store.prefetch(key, active.model)) !== 'no-room';
    }, ended);
  }
}
