import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import type { CacheFolder, CacheFolders, FolderRemoval } from '../../src-shared/contract/cache.ts';
import type { Failure } from '../../src-shared/contract/common.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { CacheFolderSetting, Settings } from '../../src-shared/settings.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import { placeChunks, usualCosts, type Placement } from '../fusion/planning/placement.ts';
import { fileTier } from '../fusion/planning/work.ts';
import { prepareFolder, type ChunkStore, type DetachedFolder } from '../kvstore/store.ts';
import type { Model } from '../engine/engine.ts';
import type { ActiveModel } from '../models/active-model.ts';
import type { Core } from '../platform/core.ts';
import { messageOf } from '../platform/failure.ts';
import { fileError } from '../platform/paths.ts';
import { SerialQueue } from '../platform/serial-queue.ts';

interface CacheFoldersOptions extends Omit<Core, 'gate'> {
  store: ChunkStore;
  /** The data folder: no folder within it can be added. */
  data: string;
  /** The store's own folder. */
  dir: string;
  planner: Pick<Planner, 'costs' | 'usualStrategy'>;
  models: { readonly active: ActiveModel<Model> | undefined };
  /** Number of chunks in a prompt. */
  topK: () => number;
}

/**
 * The folders that stored KV is kept in besides the data folder: adds and removes them as the settings say, measures
 * how fast they are, and tells the store which of them is for new chunks.
 */
export class CacheFolderService {
  readonly #options: CacheFoldersOptions;
  readonly #unsubscribe: () => void;
  /** Changes of the settings are applied one after another. */
  readonly #changes = new SerialQueue();
  readonly #measuring = new Set<string>();

  constructor(options: CacheFoldersOptions) {
    this.#options = options;
    const { store, settings } = options;
    store.folders.rankBy(() => this.#placement().folders);
    store.folders.onChange(() => this.#changed());
    this.#unsubscribe = settings.onChange((now, before) => void this.#apply(now, before));
    this.#measure();
  }

  async list(): Promise<CacheFolders> {
    const { store, settings, planner } = this.#options;
    const { cacheFolders, diskPricePerGb = null } = settings.current;
    const placement = this.#placement();
    const { folders } = store.stats();
    const list = folders.map(async ({ id, entries, ...folder }): Promise<CacheFolder> => {
      const set = cacheFolders.find((each) => each.id === id);
      const placed = placement.folders.find((each) => each.id === id);
      const space =
        folder.state === 'ready' ? await store.folders.space(id).catch(() => undefined) : undefined;
      return {
        ...{ id, chunks: entries, ...folder },
        path: set?.path ?? this.#options.dir,
        pricePerGb: id === '' ? diskPricePerGb : (set?.pricePerGb ?? null),
        freeBytes: space?.free ?? null,
        bytesPerSecond: planner.costs.bytesPerSecond(fileTier(id)),
        loadMs: placed?.loadMs ?? null,
        addsDelay: placed?.addsDelay ?? null,
      };
    });
    const [first] = placement.folders;
    return {
      folders: await Promise.all(list),
      newChunks: { folder: first?.id ?? '', reason: placement.reason, computeMs: placement.computeMs },
      moved: store.stats().moved,
    };
  }

  /** BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async add({ path, ...limits }: ParsedInputOf<'cache.addFolder'>): Promise<CacheFolders> {
    const { settings, store } = this.#options;
    await this.#requireUsable(path);
    let id: string;
    try {
      id = await prepareFolder(path);
    } catch (error) {
      throw fileError(error, `Kvasir cannot store chunks in ${path}`);
    }
    const known = settings.current.cacheFolders;
    if (known.some((folder) => folder.id === id))
      throw new KvasirError('BAD_ARGUMENT', `${path} is a cache folder already.`);
    // A removal that could not be saved leaves an entry of this path. One with chunks is of another drive.
    const used = new Set(store.stats().folders.flatMap((folder) => (folder.entries > 0 ? [folder.id] : [])));
    const others = known.filter((folder) => folder.path !== path || used.has(folder.id));
    await this.#set([...others, { id, path, ...limits }]);
    return this.list();
  }

  /** NOT_FOUND. */
  async change({ id, budgetBytes, pricePerGb }: ParsedInputOf<'cache.changeFolder'>): Promise<CacheFolders> {
    const { settings } = this.#options;
    const changed = { ...this.#require(id), ...(budgetBytes !== undefined && { budgetBytes }) };
    if (pricePerGb === null) delete changed.pricePerGb;
    else if (pricePerGb !== undefined) changed.pricePerGb = pricePerGb;
    await this.#set(settings.current.cacheFolders.map((folder) => (folder.id === id ? changed : folder)));
    return this.list();
  }

  /** Moves what has room elsewhere, deletes the rest, and removes the folder, unless pinned chunks keep it. NOT_FOUND. */
  async remove({ id, deletePinned }: ParsedInputOf<'cache.removeFolder'>): Promise<FolderRemoval> {
    const { settings, store } = this.#options;
    this.#require(id);
    const count = await this.#changes.run(() => store.folders.remove(id, deletePinned));
    if (count.kept.chunks === 0)
      await this.#set(settings.current.cacheFolders.filter((folder) => folder.id !== id));
    return count;
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#changes.run(() => Promise.resolve());
  }

  #require(id: string): CacheFolderSetting {
    const folder = this.#options.settings.current.cacheFolders.find((each) => each.id === id);
    if (folder) return folder;
    throw new KvasirError('NOT_FOUND', 'There is no such cache folder.');
  }

  async #requireUsable(path: string): Promise<void> {
    if (!isAbsolute(path)) throw new KvasirError('BAD_ARGUMENT', `${path} is not an absolute path.`);
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw new KvasirError('BAD_ARGUMENT', `There is no folder ${path}.`);
    const [data, real] = [await realpath(this.#options.data), await realpath(path)];
    const way = relative(data, real);
    if (way === '' || (!way.startsWith('..') && !isAbsolute(way)))
      throw new KvasirError('BAD_ARGUMENT', `${path} is in the data folder, which has a cache already.`);
  }

  /** Changes the setting; resolves when it is applied. */
  async #set(cacheFolders: Settings['cacheFolders']): Promise<void> {
    this.#options.settings.update({ cacheFolders });
    await this.#changes.run(() => Promise.resolve());
  }

  #apply({ cacheFolders: now }: Settings, { cacheFolders: before }: Settings): Promise<void> {
    if (now === before || JSON.stringify(now) === JSON.stringify(before)) return Promise.resolve();
    const { store, log } = this.#options;
    return this.#changes
      .run(async () => {
        const stored = new Set(store.stats().folders.map(({ id }) => id));
        for (const { id } of before)
          if (stored.has(id) && !now.some((folder) => folder.id === id)) await this.#detach(id);
        for (const folder of now) await store.folders.set(folder);
      })
      .catch((error: unknown) => log.warn('cache-folders-not-applied', { error: messageOf(error) }))
      .finally(() => this.#changed());
  }

  async #detach(id: string): Promise<void> {
    const detached = await this.#options.store.folders.detach(id);
    if (detached.chunks > 0)
      this.#options.events.emit('app.notice', { level: 'warning', failure: unlistedFailure(detached) });
  }

  #changed(): void {
    this.#options.events.emit('cache.changed', {});
    this.#measure();
  }

  /** Measures folders that are ready and have never been read. */
  #measure(): void {
    const { store, planner, log, events } = this.#options;
    for (const { id, state } of store.stats().folders) {
      if (id === '' || state !== 'ready' || this.#measuring.has(id)) continue;
      if (planner.costs.bytesPerSecond(fileTier(id)) !== null) continue;
      this.#measuring.add(id);
      store.folders
        .readSpeed(id)
        .then((times) => {
          for (const time of times) planner.costs.observeTransfer({ values: 1, ...time }, fileTier(id));
          events.emit('cache.changed', {});
        })
        .catch((error: unknown) => log.warn('cache-folder-not-measured', { error: messageOf(error) }))
        .finally(() => this.#measuring.delete(id));
    }
  }

  #placement(): Placement {
    const { store, settings, planner, models, topK } = this.#options;
    const { cacheFolders, diskPricePerGb, dtype } = settings.current;
    const { active } = models;
    const costs =
      active &&
      usualCosts(planner.costs, active.model.info, planner.usualStrategy(active.model), {
        chunks: topK(),
        chunkTokens: active.chunkTokens,
        bytesPerToken: active.model.bytesPerToken(dtype),
      });
    const folders = store
      .stats()
      .folders.filter(({ state }) => state === 'ready')
      .map(({ id }) => ({
        id,
        pricePerGb: id === '' ? diskPricePerGb : cacheFolders.find((folder) => folder.id === id)?.pricePerGb,
        loadMs: costs?.loadMs(id) ?? null,
      }));
    return placeChunks(folders, costs?.computeMs ?? null);
  }
}

/** The notice about a folder that the settings no longer name. */
export function unlistedFailure({ chunks, pinned }: DetachedFolder): Failure {
  return {
    code: 'CACHE_FOLDER_UNLISTED',
    message: `The settings no longer name a cache folder that holds ${chunks} chunks (${pinned} pinned). Kvasir has left its files alone and does not use them.`,
    advice:
      'Add the folder again to use them. If you do not need them, delete its folder kvasir-cache, and unpin and delete the pinned ones on the Cache screen.',
    values: { chunks: String(chunks), pinned: String(pinned) },
  };
}
