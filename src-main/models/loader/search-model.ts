import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Embedder } from '../../engine/engine.ts';
import { SerialQueue } from '../../platform/serial-queue.ts';
import type { ActiveEmbedder } from '../active-model.ts';
import { rulesOf, vectorVariant } from '../embedding/rules.ts';
import { filesOf } from '../registry/model-parts.ts';
import type { ModelRow } from '../registry/model-registry.ts';

type LoadedModel = Omit<ActiveEmbedder, 'embedder'> & { embedder: Embedder };

/** The embedding model or the reranker, if there is one. */
export class SearchModel {
  readonly #load: (row: ModelRow) => Promise<Embedder>;
  readonly #listeners = new Set<(active: ActiveEmbedder | undefined) => void>();
  #active: LoadedModel | undefined;
  readonly #queue = new SerialQueue();

  constructor(load: (row: ModelRow) => Promise<Embedder>) {
    this.#load = load;
  }

  get active(): LoadedModel | undefined {
    return this.#active;
  }

  onChange(listener: (active: ActiveEmbedder | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Loads a model and replaces the current one; if loading fails, the current one stays. */
  use(row: ModelRow): Promise<void> {
    return this.#queue.run(async () => {
      const embedder = await this.#load(row);
      const rules = rulesOf(row);
      const identity = (await fileIdentity(row.path)) + vectorVariant(rules, row.header);
      this.#change({ id: row.id, identity, rules, embedder });
    });
  }

  stop(): Promise<void> {
    return this.#queue.run(() => {
      if (this.#active) this.#change(undefined);
      return Promise.resolve();
    });
  }

  /** Calls in progress on the old one are rejected when it is disposed; indexing then continues with the new one. */
  #change(next: LoadedModel | undefined): void {
    const old = this.#active;
    this.#active = next;
    for (const listener of [...this.#listeners]) listener(next);
    old?.embedder.dispose();
  }
}

const SAMPLE_BYTES = 1024 * 1024;

/** Hash of the size, beginning and end of each file: reading gigabytes to tell models apart would take too long. */
async function fileIdentity(path: string): Promise<string> {
  const hash = createHash('sha256');
  for (const each of filesOf(path)) await hashSamples(each, hash);
  return hash.digest('hex');
}

async function hashSamples(path: string, hash: Hash): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    hash.update(String(size));
    for (const position of [0, Math.max(0, size - SAMPLE_BYTES)]) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, position);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
