import type { KvDtype } from '../../engine/engine.ts';
import type { ActiveModel, ModelSource } from '../../models/active-model.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { isSameTarget, putBack, savedTarget, saveTarget, targetOf, type Target } from './targets.ts';

interface TargetKeeperOptions {
  catalogue: Catalogue;
  models: ModelSource;
  dtype: () => KvDtype;
  /** Libraries that somebody else works on, perhaps for another target. */
  held: ReadonlySet<number>;
  /** Documents stand where they have to for the target now; `changed`: it is another one than before. */
  onAdopted: (changed: boolean) => void;
}

/** Knows what chunks are made for, and puts documents back when that changes. */
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

  /** By the model in use, or until one is loaded by the last one that was. */
  get target(): Target | undefined {
    return this.#target;
  }

  /** Whether another target is known, for which documents are not put back yet. */
  get changing(): boolean {
    return this.#changing;
  }

  /** Another model, chunk size or number format may be in use. */
  refresh(): void {
    this.#adopted = false;
    // Where no model can be loaded, whoever needs one says so.
    this.ready().catch(() => undefined);
  }

  /** The model in use, with documents put back to where they stand for it. Rejects when no model can be loaded. */
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

  /** Resolves when no documents are being put back. */
  async idle(): Promise<void> {
    await this.#adopting.catch(() => undefined);
  }

  async #adopt(target: Target): Promise<void> {
    const { catalogue, held, onAdopted } = this.#options;
    if (this.#adopted && isSameTarget(this.#target, target)) return;
    for (const { id } of catalogue.libraries.list()) if (!held.has(id)) await putBack(catalogue, id, target);
    saveTarget(catalogue, target); // last: until then it is what libraries without a target of their own stand for
    const changed = !isSameTarget(this.#target, target);
    this.#target = target;
    this.#adopted = true;
    this.#changing = false;
    onAdopted(changed);
  }
}
