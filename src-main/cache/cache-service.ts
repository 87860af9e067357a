import type {
  BudgetProposal,
  CacheSelection,
  CacheStats,
  VerifyResult,
} from '../../src-shared/contract/cache.ts';
import type { OutputOf, ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { ModelImpact } from '../../src-shared/contract/models.ts';
import { KV_DTYPES } from '../../src-shared/kv-dtype.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { KvDtype } from '../engine/engine.ts';
import type { FormatGate } from '../fusion/calibration/format-gate.ts';
import { DEFAULT_DISK_BUDGET, proposeBudget } from '../kvstore/budget-proposal.ts';
import type { ChunkStore, KindTotals } from '../kvstore/store.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { impactOf } from '../models/registry/impact.ts';
import type { ActiveModel, ModelSource } from '../models/active-model.ts';
import type { KnownModels } from '../models/registry/known-models.ts';
import { throttled } from '../platform/event-bus.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { timedWork } from '../platform/timed-work.ts';
import { ChunkKeys } from './chunk-keys.ts';
import { HitCounts } from './hit-counts.ts';
import { DocumentListing } from './document-listing.ts';
import { EntryListing } from './entry-listing.ts';
import { CachedResult } from './cached-result.ts';
import type { ListingSources } from './listing-sources.ts';
import type { Core } from '../platform/core.ts';

interface CacheServiceOptions extends Omit<Core, 'gate'> {
  store: ChunkStore;
  /** The store's folder. */
  dir: string;
  catalogue: Pick<Catalogue, 'chunkTable' | 'documents' | 'kvKeys' | 'state' | 'setState'>;
  models: Pick<ModelSource, 'active' | 'current' | 'onChange'>;
  known: Pick<KnownModels, 'get' | 'chunkTokens'>;
  formats: Pick<FormatGate, 'lossIn' | 'offers'>;
}

const CHANGED_MS = 2000;
const PROGRESS_MS = 200;

/** Lists the store's content and pins, evicts and verifies it; applies the settings' budgets and eviction policy to the store. */
export class CacheService {
  readonly #options: CacheServiceOptions;
  readonly #keys: ChunkKeys;
  readonly #hits: HitCounts;
  readonly #unsubscribe: (() => void)[];
  readonly #watch: ReturnType<typeof throttled>;
  readonly #entries = new CachedResult(async () =>
    EntryListing.make(await this.#sources(), () => this.#active),
  );
  readonly #documents = new CachedResult(async () => DocumentListing.make(await this.#sources()));
  #seen = '';

  constructor(options: CacheServiceOptions) {
    this.#options = options;
    this.#keys = new ChunkKeys(options.catalogue.kvKeys);
    this.#hits = new HitCounts(options.catalogue);
    this.#watch = throttled(
      CHANGED_MS,
      timedWork(options, () => this.#tellIfChanged()),
    );
    this.#unsubscribe = [
      options.settings.onChange((now, before) => {
        options.store.setPolicy(now.eviction);
        this.#serve();
        this.#applyBudgets(now, before);
      }),
      options.models.onChange(() => this.#serve()),
      // Whatever fills the store emits an event.
      options.events.on(({ topic }) => {
        if (topic === 'queue.status' || topic === 'chat.done' || topic === 'library.changed') this.#watch();
      }),
    ];
  }

  /** Until a model is loaded, all stored chunks are alike. */
  #serve(): void {
    const { store, settings } = this.#options;
    const fingerprint = this.#fingerprint;
    store.serve(fingerprint === undefined ? undefined : { fingerprint, dtype: settings.current.dtype });
  }

  async stats(): Promise<CacheStats> {
    const { store, dir, catalogue, settings, models, formats } = this.#options;
    const { entries, bytes, folders, pinned, prefixes, ram, hits, misses, prefetches, ...more } =
      store.stats();
    const space = await store.folders.space();
    const others = store.totals().filter(({ fingerprint }) => fingerprint !== this.#fingerprint);
    const total = this.#hits.update({ ram: hits.ram, disk: hits.disk, misses });
    const tokens = models.active ? catalogue.chunkTable.corpus(this.#activeSets).tokens : 0;
    const perToken = (dtype: KvDtype): number => models.active?.model.bytesPerToken(dtype) ?? 0;
    return {
      folder: dir,
      chunks: entries,
      bytes,
      diskBytes: folders[0]?.bytes ?? 0,
      diskBudgetBytes: folders[0]?.budgetBytes ?? 0,
      diskFreeBytes: space?.free ?? null,
      proposal: await this.proposal(),
      ramBytes: ram.bytes,
      ramBudgetBytes: ram.budgetBytes,
      device: this.#device(),
      pinnedChunks: pinned.entries,
      pinnedBytes: pinned.bytes,
      prefixes: {
        entries: prefixes.entries,
        bytes: prefixes.bytes,
        budgetBytes: prefixes.budgetBytes,
      },
      ramHits: total.ram,
      diskHits: total.disk,
      misses: total.misses,
      prefetched: prefetches.made,
      prefetchHits: prefetches.used,
      dtype: settings.current.dtype,
      formats: KV_DTYPES.map((dtype) => ({
        dtype,
        bytes: tokens * perToken(dtype),
        loss: formats.lossIn(dtype),
        offered: formats.offers(dtype),
      })),
      otherModelChunks: sum(others, 'entries'),
      otherModelBytes: sum(others, 'bytes'),
      evictions: more.evictions,
      quarantine: more.quarantine,
    };
  }

  /** A disk budget for the free space; null once somebody has set one: that is never questioned. */
  async proposal(): Promise<BudgetProposal | null> {
    const { store, settings } = this.#options;
    const space = await store.folders.space();
    return settings.current.diskBudgetBytes === undefined
      ? proposeBudget(space, store.stats().folders[0]?.bytes ?? 0)
      : null;
  }

  #device(): CacheStats['device'] {
    const tier = this.#active?.deviceTier();
    if (!tier) return null;
    const { deviceBudgetBytes } = this.#options.settings.current;
    return {
      chunks: tier.chunks,
      bytes: tier.bytes,
      budgetBytes: deviceBudgetBytes ?? tier.limitBytes,
      automatic: deviceBudgetBytes === undefined,
      totalBytes: tier.totalBytes,
    };
  }

  async entries(query: ParsedInputOf<'cache.entries'>): Promise<OutputOf<'cache.entries'>> {
    return (await this.#entries.get()).page(query);
  }

  async documents(query: ParsedInputOf<'cache.documents'>): Promise<OutputOf<'cache.documents'>> {
    return (await this.#documents.get()).page(query);
  }

  /** Pins or unpins; returns how many of the selected entries are now in the requested state. */
  async pin(selection: CacheSelection, pinned: boolean): Promise<{ chunks: number }> {
    const { store } = this.#options;
    const slice = new TimeSlice();
    let chunks = 0;
    for (const key of await this.#keysOf(selection)) {
      if (pinned ? store.pin(key) : store.unpin(key)) chunks++;
      await slice.step();
    }
    this.#changed();
    return { chunks };
  }

  /** Evicts the selected entries, except pinned ones and those in use. */
  async evict(selection: ParsedInputOf<'cache.evict'>['selection']): Promise<OutputOf<'cache.evict'>> {
    const { entries, bytes, kept } = await this.#options.store.evict(
      'freeBytes' in selection
        ? { bytes: selection.freeBytes }
        : 'all' in selection
          ? { all: true }
          : { keys: await this.#keysOf(selection) },
    );
    this.#changed();
    return { chunks: entries, bytes, kept };
  }

  /** Deletes everything computed with a model, pinned or not; false when some of it is in use. */
  async forgetModel(fingerprint: string): Promise<boolean> {
    const { store } = this.#options;
    const keys = store.list({ fingerprint }).map(({ key }) => key);
    for (const key of keys) store.unpin(key);
    const { kept } = await store.evict({ keys });
    this.#changed();
    return kept === 0;
  }

  /**
   * Checks every chunk file; progress is emitted as 'cache.progress'. Damage found when the store was opened is part of the report: it was
   * there when the user asked.
   */
  async verify(): Promise<VerifyResult> {
    const { store, events } = this.#options;
    const started = performance.now();
    let progress = { done: 0, total: 0 };
    const tell = throttled(PROGRESS_MS, () => events.emit('cache.progress', progress));
    const report = await store.verify(({ done, total }) => {
      progress = { done, total };
      tell();
    });
    tell.cancel();
    const { quarantined, newerFormat } = store.recovery;
    this.#changed();
    return {
      ...report,
      corrupt: [...quarantined.map(({ file, reason }) => ({ key: file, reason })), ...report.corrupt],
      newerFormat: [...new Set([...newerFormat, ...report.newerFormat])],
      ms: performance.now() - started,
    };
  }

  /**
   * The effect of making a model the active one. Where not everything is chunked for it yet, the active model's chunks are used: tokenizers
   * differ by a few percent, which is close enough for a decision. NOT_FOUND.
   */
  impact(modelId: string): ModelImpact {
    const { known, catalogue, store, settings } = this.#options;
    const { dtype } = settings.current;
    const row = known.get(modelId);
    const chunkTokens = known.chunkTokens(row);
    const now = catalogue.chunkTable.corpus(this.#activeSets);
    if (row.header.embedding || row.header.reranker)
      return impactOf(row, { ...now, cachedChunks: 0, cachedTokens: 0 }, dtype);
    const own = catalogue.chunkTable.corpus({ fingerprint: row.fingerprint ?? '', chunkTokens });
    const about = {
      tokens: now.tokens,
      chunks: catalogue.chunkTable.chunksOfSize(this.#activeSets, chunkTokens),
    };
    const corpus = own.documents > 0 && own.documents >= now.documents ? own : about;
    const stored = store
      .totals()
      .filter(
        (held) => held.kind === 'chunk' && held.fingerprint === row.fingerprint && held.dtype === dtype,
      );
    const cached = { cachedChunks: sum(stored, 'entries'), cachedTokens: sum(stored, 'tokens') };
    return impactOf(row, { ...corpus, ...cached }, dtype);
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
    this.#watch.cancel();
    const { hits, misses } = this.#options.store.stats();
    this.#hits.update({ ...hits, misses });
  }

  get #active(): ActiveModel['model'] | undefined {
    return this.#options.models.active?.model;
  }

  get #fingerprint(): string | undefined {
    return this.#active?.info.fingerprint;
  }

  get #activeSets(): { fingerprint: string; chunkTokens: number } {
    return {
      fingerprint: this.#fingerprint ?? '',
      chunkTokens: this.#options.models.active?.chunkTokens ?? 0,
    };
  }

  async #sources(): Promise<ListingSources> {
    const { store, catalogue } = this.#options;
    const dtypes = [...new Set(store.totals().map(({ dtype }) => dtype))];
    await this.#keys.update(dtypes);
    return { store, documents: catalogue.documents, keys: catalogue.kvKeys, dtypes };
  }

  async #keysOf(selection: CacheSelection): Promise<string[]> {
    if ('keys' in selection) return selection.keys;
    const listing = await this.#entries.get();
    if ('documentIds' in selection) return listing.keysOf(selection.documentIds);
    const keys = (chunks: EntryListing['chunks']): string[] => chunks.map(({ entry }) => entry.key);
    if ('all' in selection) return keys(listing.chunks);
    const { fingerprint } = (await this.#options.models.current()).model.info;
    return keys(listing.chunks.filter(({ entry }) => entry.fingerprint !== fingerprint));
  }

  #applyBudgets(now: Settings, before: Settings): void {
    const { diskBudgetBytes, memoryBudgetBytes, deviceBudgetBytes } = now;
    if (deviceBudgetBytes !== before.deviceBudgetBytes) {
      this.#active?.setDeviceBudget(deviceBudgetBytes);
      this.#changed();
    }
    if (diskBudgetBytes === before.diskBudgetBytes && memoryBudgetBytes === before.memoryBudgetBytes) return;
    this.#options.store
      .setBudget({ diskBytes: diskBudgetBytes ?? DEFAULT_DISK_BUDGET, ramBytes: memoryBudgetBytes })
      .then(() => this.#changed())
      .catch((error: unknown) => this.#options.log.warn('budget-not-applied', { error: String(error) }));
  }

  #tellIfChanged(): void {
    const { entries, bytes, ram, hits, misses } = this.#options.store.stats();
    const device = this.#active?.deviceTier();
    const seen = JSON.stringify([entries, bytes, ram.bytes, hits, misses, device?.bytes, device?.chunks]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#changed();
  }

  #changed(): void {
    this.#entries.drop();
    this.#documents.drop();
    this.#options.events.emit('cache.changed', {});
  }
}

function sum(totals: readonly KindTotals[], field: 'entries' | 'tokens' | 'bytes'): number {
  return totals.reduce((all, kind) => all + kind[field], 0);
}
