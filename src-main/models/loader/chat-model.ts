import type { Model } from '../../engine/engine.ts';
import type { Gate } from '../../platform/gate.ts';
import type { Logger } from '../../platform/logger.ts';
import { SerialQueue } from '../../platform/serial-queue.ts';
import type { ActiveModel, ModelSource } from '../active-model.ts';
import { modelName, withAdapter } from '../registry/entry.ts';
import type { KnownModels } from '../registry/known-models.ts';
import type { ModelRow } from '../registry/model-registry.ts';

interface ChatModelOptions {
  known: KnownModels;
  gate: Gate;
  log: Logger;
  /** Loads a model and records the outcome. */
  load: (row: ModelRow) => Promise<Model>;
  /** Models to try first, in order. */
  candidates: () => ModelRow[];
  /** Releases what other services hold of a model's memory. */
  beforeDispose: (model: Model) => Promise<void>;
}

/** The chat model: loaded when first needed, replaced while nobody uses it. */
export class ChatModel implements ModelSource {
  readonly #options: ChatModelOptions;
  readonly #listeners = new Set<(active: ActiveModel) => void>();
  #active: ActiveModel | undefined;
  #row: ModelRow | undefined;
  #starting: Promise<ActiveModel> | undefined;
  /** Serialises loading, replacing and disposing. */
  readonly #queue = new SerialQueue();

  constructor(options: ChatModelOptions) {
    this.#options = options;
  }

  get active(): ActiveModel | undefined {
    return this.#active;
  }

  current(): Promise<ActiveModel> {
    if (this.#active) return Promise.resolve(this.#active);
    this.#starting ??= this.#queue.run(() => this.#first()).finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  onChange(listener: (active: ActiveModel) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Loads a model and replaces the current one; if loading fails, the current one stays. */
  switchTo(row: ModelRow): Promise<ActiveModel> {
    return this.#queue.run(() => this.#replace(row));
  }

  /** Announces a change that needs no loading: another chunk size or name. */
  refresh(row = this.#row): void {
    if (!this.#active || !row || row.id !== this.#active.id) return;
    this.#row = row;
    const next = this.#activeOf(row, this.#active.model);
    if (next.chunkTokens !== this.#active.chunkTokens || next.name !== this.#active.name) this.#tell(next);
  }

  /** Disposes of the model once nothing uses it. */
  close(): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#active) await this.#retire(this.#active);
    });
  }

  async #first(): Promise<ActiveModel> {
    if (this.#active) return this.#active;
    let failure: unknown;
    for (const row of this.#options.candidates()) {
      try {
        return await this.#install(row);
      } catch (error) {
        failure ??= error; // the requested model's failure is more informative than that of the last candidate
      }
    }
    throw failure;
  }

  async #replace(row: ModelRow): Promise<ActiveModel> {
    const old = this.#active;
    const oldRow = this.#row;
    if (!old || !oldRow) return this.#install(row);
    const { gate, known, load } = this.#options;
    if (known.fit(row).verdict === 'fits') {
      const model = await load(row);
      return gate.foreground(async () => {
        const next = this.#use(row, model);
        await this.#dispose(old);
        return next;
      });
    }
    return gate.foreground(async () => {
      await this.#retire(old);
      try {
        return await this.#install(row);
      } catch (error) {
        await this.#install(oldRow);
        throw error;
      }
    });
  }

  async #install(row: ModelRow): Promise<ActiveModel> {
    return this.#use(row, await this.#options.load(row));
  }

  #use(row: ModelRow, model: Model): ActiveModel {
    this.#row = row;
    const active = this.#activeOf(row, model);
    this.#tell(active);
    return active;
  }

  #activeOf(row: ModelRow, model: Model): ActiveModel {
    const name = withAdapter(modelName(row), row.adapter);
    return { id: row.id, path: row.path, model, name, chunkTokens: this.#options.known.chunkTokens(row) };
  }

  #tell(active: ActiveModel): void {
    this.#active = active;
    for (const listener of [...this.#listeners]) {
      try {
        listener(active);
      } catch (error) {
        this.#options.log.error('model-listener-failed', { error: String(error) });
      }
    }
  }

  #retire(active: ActiveModel): Promise<void> {
    this.#active = undefined;
    this.#row = undefined;
    return this.#dispose(active);
  }

  async #dispose({ model }: ActiveModel): Promise<void> {
    await this.#options.beforeDispose(model);
    model.dispose();
  }
}
