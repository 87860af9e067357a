import type { ChunkEntry, ChunkStore } from '../kvstore/store.ts';
import type { ActiveModel, ModelSource } from '../models/active-model.ts';
import { breathe } from '../platform/abort.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';
import type { Gate } from '../platform/gate.ts';
import type { Logger } from '../platform/logger.ts';
import type { SettingsService } from '../platform/settings-service.ts';

export interface WarmStartOptions {
  store: Pick<ChunkStore, 'list' | 'prefetch'>;
  models: Pick<ModelSource, 'active' | 'onChange'>;
  settings: Pick<SettingsService, 'current'>;
  events: EventBus;
  gate: Gate;
  log: Logger;
  /** Goes once through what every question does; false when there were no documents to do it with yet. */
  rehearse: (signal: AbortSignal) => Promise<boolean>;
  /** Least milliseconds between two rounds. */
  pauseMs?: number;
}

const PAGE = 256;
const PAUSE_MS = 1000;

/**
 * Spares the first question what only a first one would wait for, behind all other work: fills free memory with the
 * chunks that were used or made last, after a model came into use and while new ones are made, and rehearses a question
 * once for each model.
 */
export class WarmStart {
  readonly #options: WarmStartOptions;
  readonly #abort = new AbortController();
  readonly #unsubscribe: (() => void)[];
  readonly #soon: ReturnType<typeof throttled>;
  #rounds: Promise<void> = Promise.resolve();
  #waiting = false;
  #rehearsed: unknown;

  constructor(options: WarmStartOptions) {
    this.#options = options;
    this.#soon = throttled(options.pauseMs ?? PAUSE_MS, () => this.#begin());
    this.#unsubscribe = [
      options.models.onChange(() => this.#soon()),
      options.events.on(({ topic }) => {
        if (topic === 'queue.status') this.#soon();
      }),
    ];
  }

  /** Resolves when nothing is being brought in. */
  idle(): Promise<void> {
    return this.#rounds;
  }

  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    this.#soon.cancel();
    this.#abort.abort();
    await this.#rounds;
  }

  #begin(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    this.#rounds = this.#rounds.then(async () => {
      this.#waiting = false;
      const { models, log } = this.#options;
      try {
        if (!models.active) return;
        await this.#fillMemory(models.active);
        await this.#rehearse(models.active);
      } catch (error) {
        if (!this.#abort.signal.aborted) log.warn('warm-start-stopped', { error: String(error) });
      }
    });
  }

  /** Ends where memory is full, or where a page has nothing new: what lies behind it was brought in before. */
  async #fillMemory(active: ActiveModel): Promise<void> {
    const { store, settings } = this.#options;
    const { fingerprint } = active.model.info;
    for (let offset = 0; ; offset += PAGE) {
      const page = store.list({ kind: 'chunk', fingerprint, limit: PAGE, offset });
      const missing = page.filter(({ inRam, dtype }) => !inRam && dtype === settings.current.dtype);
      for (const entry of missing) if (!(await this.#bring(entry, active))) return;
      if (page.length < PAGE || missing.length === 0) return;
      await breathe();
    }
  }

  async #rehearse({ model }: ActiveModel): Promise<void> {
    if (this.#rehearsed === model) return;
    const { gate, rehearse } = this.#options;
    if (await gate.background(rehearse, this.#abort.signal)) this.#rehearsed = model;
  }

  /** False when there is no room, or another model is in use. */
  #bring({ key }: ChunkEntry, active: ActiveModel): Promise<boolean> {
    const { gate, models, store } = this.#options;
    return gate.background(async () => {
      if (models.active?.model !== active.model) return false;
      return (await store.prefetch(key, active.model)) !== 'no-room';
    }, this.#abort.signal);
  }
}
