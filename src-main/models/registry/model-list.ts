import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type {
  EmbeddingPrefixes,
  InspectedModel,
  ModelDetail,
  ModelEntry,
} from '../../../src-shared/contract/models.ts';
import type { AddedServer } from '../../../src-shared/contract/servers.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ModelLoader } from '../loader/model-loader.ts';
import { isOnServer, type ServerModels } from '../sources/servers/server-models.ts';
import type { Logger } from '../../platform/logger.ts';
import { familyOf, rulesOf } from '../embedding/rules.ts';
import { describeModel } from './describe.ts';
import { entryOf, inspectedOf, modelName, roleOf } from './entry.ts';
import type { KnownModels, Trouble } from './known-models.ts';
import { modifiedMs, whereItLies, type ModelFiles } from './model-files.ts';
import { filesOf } from './model-parts.ts';
import { DEMO_MODEL_ID, type ModelRegistry, type ModelRow } from './model-registry.ts';

interface ModelListOptions {
  engine: Pick<Engine, 'inspect' | 'checkAdapter'>;
  known: KnownModels;
  registry: ModelRegistry;
  files: ModelFiles;
  servers: ServerModels;
  loader: ModelLoader;
  log: Logger;
}

/** The models that Kvasir knows: adds, describes, changes and removes them. */
export class ModelList {
  readonly #options: ModelListOptions;

  constructor(options: ModelListOptions) {
    this.#options = options;
  }

  /** The demo model first. */
  list(): ModelEntry[] {
    return this.#options.known.all().map((row) => this.#entry(row));
  }

  /** NOT_FOUND. */
  get(id: string): ModelEntry {
    return this.#entry(this.#options.known.get(id));
  }

  /** NOT_FOUND. */
  detail(id: string): ModelDetail {
    const row = this.#options.known.get(id);
    return {
      model: this.#entry(row),
      header: describeModel(row.header).map(([label, value]) => ({ label, value })),
      tensorTypes: row.header.tensorTypes,
    };
  }

  /** A file's entry if it were in the list, from its header. MODEL_NOT_FOUND, MODEL_INVALID. */
  inspect(path: string): InspectedModel {
    return inspectedOf({ name: null, path, header: this.#options.engine.inspect(path) });
  }

  /**
   * Adds a GGUF in place, or copies it into the data folder; a known one is read again and keeps its name. CONFLICT if
   * a split model is to be copied, MODEL_NOT_FOUND, MODEL_INVALID, DISK_FULL, STORE_READ_ONLY.
   */
  async import(path: string, { copy = false, downloaded = false, name = '' } = {}): Promise<ModelEntry> {
    const { engine, files, known, registry } = this.#options;
    engine.inspect(path); // before anything is copied
    const source = await whereItLies(path);
    const target = copy && !files.owns(source) ? await files.copyIn(source) : source;
    const before = registry.byPath(target);
    const id = before?.id ?? randomUUID();
    known.read(id, target, downloaded ? 'downloaded' : 'imported');
    if (!before && name !== '') registry.rename(id, name);
    known.trouble.delete(id);
    known.changed();
    return this.get(id);
  }

  /** Adds models in Kvasir's folder that the list lacks: a process was killed before it added one, or the list was lost. */
  async adopt(): Promise<void> {
    const { files, registry, log } = this.#options;
    const failed = (path: string, error: unknown): void =>
      log.warn('model-not-adopted', { path, error: String(error) });
    const add = async (path: string): Promise<void> => {
      if (!registry.byPath(await whereItLies(path))) await this.import(path);
    };
    try {
      for (const path of files.all()) await add(path).catch((error: unknown) => failed(path, error));
    } catch (error) {
      failed(files.dir, error); // the folder cannot be listed
    }
  }

  /** Renames a model; '' restores the name in its file. NOT_FOUND. */
  rename(id: string, name: string): ModelEntry {
    const { known, registry, loader } = this.#options;
    known.get(id);
    registry.rename(id, name === '' ? null : name);
    loader.refresh(known.get(id));
    known.changed();
    return this.get(id);
  }

  /** Sets what an embedding model gets before texts; null: its family's. NOT_FOUND, BAD_ARGUMENT, and as activate(). */
  async setPrefixes(id: string, prefixes: EmbeddingPrefixes | null): Promise<ModelEntry> {
    const { known, registry, loader } = this.#options;
    const row = known.get(id);
    if (roleOf(row.header) !== 'embedding')
      throw new KvasirError('BAD_ARGUMENT', `${modelName(row)} is not an embedding model.`);
    registry.setPrefixes(id, prefixes);
    if (loader.embedder?.id === id) await loader.activate(id);
    known.changed();
    return this.get(id);
  }

  /** Adds a model on a server; sends nothing. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async addServer(server: AddedServer): Promise<ModelEntry> {
    const { known, servers, loader } = this.#options;
    const id = await servers.add(server);
    await loader.reload(known.get(id));
    return this.get(id);
  }

  /** Changes the key of a model on a server; '' deletes it. NOT_FOUND, BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async setServerKey(id: string, key: string): Promise<ModelEntry> {
    const row = this.#options.known.get(id);
    if (!isOnServer(row)) throw new KvasirError('BAD_ARGUMENT', `${modelName(row)} is not on a server.`);
    await this.#options.servers.setKey(row, key);
    return this.#entry(row);
  }

  /**
   * Applies a LoRA adapter to a model, or removes it; the current model is reloaded, and if that fails nothing changes.
   * NOT_FOUND, CONFLICT, ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED, and the codes of activate().
   */
  async setAdapter(id: string, path: string | null): Promise<ModelEntry> {
    const { engine, known, registry, loader } = this.#options;
    const row = known.get(id);
    if (row.id === DEMO_MODEL_ID) {
      throw new KvasirError(
        'CONFLICT',
        'Adapters are not supported for the demo model, which is the fallback when another model cannot be loaded.',
        'Import another model.',
      );
    }
    if (isOnServer(row)) {
      const advice = 'Configure the adapter on the server.';
      throw new KvasirError('ADAPTER_UNSUPPORTED', 'Adapters are not supported for remote models.', advice);
    }
    const adapter = path === null ? null : resolve(path);
    if (adapter !== null) engine.checkAdapter(adapter, row.path);
    await loader.reload({ ...row, adapter });
    registry.setAdapter(id, adapter);
    if (loader.active?.id === id) registry.setFingerprint(id, loader.active.model.info.fingerprint);
    else known.trouble.delete(id); // it may belong to the other adapter
    known.changed();
    return this.get(id);
  }

  /** Removes a model; deletes its file only if Kvasir created it. The demo model stays. NOT_FOUND, CONFLICT. */
  async remove(id: string): Promise<void> {
    const { files, known, registry, servers, loader } = this.#options;
    const row = known.get(id);
    if (row.id === DEMO_MODEL_ID) {
      throw new KvasirError('CONFLICT', 'The demo model is part of Kvasir and cannot be removed.');
    }
    if ([loader.embedder?.id, loader.reranker?.id].includes(id)) await loader.deactivate(id);
    if (loader.active?.id === id) await loader.activate(DEMO_MODEL_ID);
    if (isOnServer(row)) await servers.removed(id, row.server.address);
    registry.remove(id);
    known.trouble.delete(id);
    if (!isOnServer(row) && files.owns(row.path))
      for (const file of filesOf(row.path)) rmSync(file, { force: true });
    known.changed();
  }

  #entry(row: ModelRow): ModelEntry {
    const { known, servers, loader } = this.#options;
    const active = [loader.active?.id, loader.embedder?.id, loader.reranker?.id].includes(row.id);
    const missing = !isOnServer(row) && modifiedMs(row.path) === undefined;
    const rest: Trouble = { state: active ? 'ready' : missing ? 'missing' : 'idle', failure: null };
    const { state, failure } = known.trouble.get(row.id) ?? rest;
    const server = isOnServer(row) ? servers.facts(row) : null;
    const embedding = roleOf(row.header) === 'embedding' ? this.#embeddingOf(row) : undefined;
    const textMarks = known.textMarks(row.id);
    return entryOf(row, known.fit(row, active), { state, failure, active, server, embedding, textMarks });
  }

  #embeddingOf(row: ModelRow): ModelEntry['embedding'] {
    const { embedder, active } = this.#options.loader;
    const { question, passage, tokens = Infinity } = rulesOf(row);
    const card = familyOf(row)?.card ?? null;
    const source = row.prefixes ? 'user' : card === null ? 'unknown' : 'card';
    const loaded = embedder?.id === row.id ? embedder.embedder.info.contextTokens : Infinity;
    const longest = Math.min(tokens, loaded, row.header.contextTrain);
    return { question, passage, source, card, tokens: longest, chunkTokens: active?.chunkTokens ?? null };
  }
}
