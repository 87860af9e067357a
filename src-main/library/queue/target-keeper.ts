import type { KvDtype } from '../../engine/engine.ts';
import type { ActiveModel, ModelSource } from '../../models/active-model.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { isSameTarget, putBack, savedTarget, saveTarget, targetOf, type Target } from './targets.ts';

interface TargetKeeperOptions {
  catalogue: Catalogue;
  models: ModelSource;
  dtype: () => KvDtype;
  /** Libraries that somebody else is working on, perhaps for another target. */
  held: ReadonlySet<number>;
  /** Called when documents' phases match the current target; `changed`: it differs from the previous one. */
  onAdopted: (changed: boolean) => void;
}

/** Tracks the target that chunks are created for, and resets documents when it changes. */
export class TargetKeeper {
  readonly #options: TargetKeeperOptions;
  #target: Target | undefined;
  #adopted = false;
  #adopting: Promise<void> = Promise.resolve();
  #changing = false;

  constructor(options: TargetKeeperOptions) {
    this.#options = options;
    this.#target = savedTarget(options.catalogue);
  }

  /** From the model in use, or until one is loaded, from the last one in use. */
  get target(): Target | undefined {
    return this.#target;
  }

  /** Whether another target is known, for which documents are not reset yet. */
  get changing(): boolean {
    return this.#changing;
  }

  /** Another model, chunk size or number format may be in use. */
  refresh(): void {
    this.#adopted = false;
    // If no model can be loaded, whoever needs one reports that.
    this.ready().catch(() => undefined);
  }

  /** The model in use, with documents reset to their phases for it. Rejects when no model can be loaded. */
  async ready(): Promise<{ active: ActiveModel; target: Target }> {
    const active = await this.#options.models.current();
    const target = targetOf(active, this.#options.dtype());
    if (!this.#adopted || !isSameTarget(this.#target, target)) {
      this.#changing = !isSameTarget(this.#target, target);
      this.#adopting = this.#adopting.catch(() => undefined).then(() => this.#adopt(target));
      await this.#adopting;
    }
    return { active, target };
  }

  /** Resolves when no documents are being reset. */
  async idle(): Promise<void> {
    await this.#adopting.catch(() => undefined);
  }

  async #adopt(target: Target): Promise<void> {
    const { catalogue, held, onAdopted } = this.#options;
    if (this.#adopted && isSameTarget(this.#target, target)) return;
    for (const { id } of catalogue.libraries.list()) if (!held.has(id)) await putBack(catalogue, id, target);
    saveTarget(catalogue, target); // last: until then it applies to libraries that have no target yet
    const changed = !isSameTarget(this.#target, target);
    this.#target = target;
    this.#adopted = true;
    this.#changing = false;
    onAdopted(changed);
  }
}
