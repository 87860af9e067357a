import type { CacheDocument, CacheEntry } from '../../src-shared/contract/cache.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { DocumentName, DocumentTable } from '../catalogue/document-table.ts';
import type { KvKeyTable } from '../catalogue/kv-key-table.ts';
import type { ChunkStore, ListedEntry } from '../kvstore/store.ts';
import { TimeSlice } from '../platform/time-slice.ts';

/** A document, as the Cache lists it; also what stands in none any more, by its label. */
type Holder = CacheDocument;

/** A stored chunk, and where its text stands: in several documents, or in none any more. */
interface StoredChunk {
  entry: ListedEntry;
  places: readonly Place[];
}

interface Place {
  in: Holder;
  ordinal: number | null;
}

/** One for all chunks until they have a place: there are tens of thousands. */
const NOWHERE: readonly Place[] = [];

interface ListingSources {
  store: Pick<ChunkStore, 'after'>;
  documents: Pick<DocumentTable, 'named'>;
  keys: Pick<KvKeyTable, 'places'>;
  /** Number formats that the store has. */
  dtypes: readonly string[];
  /** Of the active model. */
  fingerprint: string | undefined;
}

type EntryQuery = ParsedInputOf<'cache.entries'>;
type DocumentQuery = ParsedInputOf<'cache.documents'>;

/** Rows read before others get their turn: some milliseconds. */
const ENTRIES_AT_ONCE = 500;
const DOCUMENTS_AT_ONCE = 100;
/** More than the chunks of any document. */
const ORDINALS = 2 ** 24;

/** What the store holds at one time, joined with the catalogue. */
export class CacheListing {
  /** In no order. */
  readonly chunks: readonly StoredChunk[];
  readonly #fingerprint: string | undefined;
  readonly #holders: readonly Holder[];
  #byName: Promise<readonly StoredChunk[]> | undefined;
  #sorted: { by: string; chunks: readonly StoredChunk[] } | undefined;

  /** Reads piece by piece; what changes meanwhile may be in it or not. */
  static async make(sources: ListingSources): Promise<CacheListing> {
    const { store, documents, keys, dtypes } = sources;
    const slice = new TimeSlice();
    const byKey = new Map<string, StoredChunk>();
    for (let page: ListedEntry[] | undefined; !page || page.length === ENTRIES_AT_ONCE;) {
      page = store.after(page?.at(-1)?.key ?? '', ENTRIES_AT_ONCE);
      for (const entry of page) byKey.set(entry.key, { entry, places: NOWHERE });
      await slice.step();
    }
    const holders: Holder[] = [];
    for (let page: DocumentName[] | undefined; !page || page.length === DOCUMENTS_AT_ONCE;) {
      page = documents.named(page?.at(-1)?.id ?? 0, DOCUMENTS_AT_ONCE);
      const known = new Map(page.map((document) => [document.id, holderOf(document)]));
      for (const { key, documentId, ordinal } of keys.places([...known.keys()], dtypes)) {
        const [chunk, holder] = [byKey.get(key), known.get(documentId)];
        if (chunk && holder) hold(chunk, holder, ordinal);
      }
      holders.push(...[...known.values()].filter(({ chunks }) => chunks > 0));
      await slice.step();
    }
    const chunks = [...byKey.values()];
    return new CacheListing(sources.fingerprint, chunks, [...holders, ...withoutPlace(chunks)]);
  }

  private constructor(
    fingerprint: string | undefined,
    chunks: readonly StoredChunk[],
    holders: readonly Holder[],
  ) {
    this.#fingerprint = fingerprint;
    this.chunks = chunks;
    this.#holders = holders;
  }

  async entries(query: EntryQuery): Promise<{ total: number; items: CacheEntry[] }> {
    const { search, documentId, sort, descending, offset, limit } = query;
    const by = JSON.stringify([search, documentId, sort, descending]);
    if (this.#sorted?.by !== by) this.#sorted = { by, chunks: await this.#select(query) };
    const { chunks } = this.#sorted;
    const items = chunks.slice(offset, offset + limit).map((chunk) => this.#describe(chunk, documentId));
    return { total: chunks.length, items };
  }

  documents({ search, sort, descending, offset, limit }: DocumentQuery): {
    total: number;
    items: CacheDocument[];
  } {
    const needle = search.trim().toLowerCase();
    const found =
      needle === ''
        ? [...this.#holders]
        : this.#holders.filter(({ document }) => document.toLowerCase().includes(needle));
    const key = (row: CacheDocument): string | number =>
      sort === 'document' ? row.document : sort === 'lastUsed' ? (row.lastUsedMs ?? 0) : row[sort];
    found.sort(ordered(key, descending, (a, b) => compare(a.document, b.document)));
    return { total: found.length, items: found.slice(offset, offset + limit) };
  }

  /** Keys of all that stands in these documents. */
  keysOf(documentIds: readonly string[]): string[] {
    const ids = new Set<string | null>(documentIds);
    return this.chunks
      .filter(({ places }) => places.some((place) => ids.has(place.in.documentId)))
      .map(({ entry }) => entry.key);
  }

  async #select({ search, documentId, sort, descending }: EntryQuery): Promise<readonly StoredChunk[]> {
    const all = await (this.#byName ??= byName(this.chunks, this.#holders));
    const needle = search.trim().toLowerCase();
    const isWanted = (chunk: StoredChunk): boolean =>
      (needle === '' || nameOf(chunk).toLowerCase().includes(needle)) &&
      (documentId === undefined || chunk.places.some((place) => place.in.documentId === documentId));
    const found = needle === '' && documentId === undefined ? all : all.filter(isWanted);
    if (sort === 'document') return descending ? found.toReversed() : found;
    const field = sort === 'lastUsed' ? 'lastUsedAt' : sort;
    const sign = descending ? -1 : 1;
    return rising(
      found,
      found.map(({ entry }) => sign * entry[field]),
    );
  }

  #describe({ entry, places }: StoredChunk, documentId?: string): CacheEntry {
    const place = places.find((each) => each.in.documentId === documentId) ?? places[0];
    const { key, tokens, bytes, dtype, hits, pinned } = entry;
    return {
      key,
      tokens,
      bytes,
      dtype,
      hits,
      pinned,
      documentId: place?.in.documentId ?? null,
      document: place?.in.document ?? entry.label,
      ordinal: place?.ordinal ?? null,
      state: entry.inRam ? 'ram' : 'disk',
      lastUsedMs: hits > 0 ? entry.lastUsedAt : null,
      current: entry.fingerprint === this.#fingerprint,
    };
  }
}

function nameOf({ places }: StoredChunk): string {
  return places[0]?.in.document ?? '';
}

function holderOf({ id, libraryId, path }: DocumentName): Holder {
  return emptyHolder(path, String(id), String(libraryId));
}

function emptyHolder(document: string, documentId: string | null, libraryId: string | null): Holder {
  return {
    ...{ documentId, document, libraryId, chunks: 0, bytes: 0, ramBytes: 0, hits: 0 },
    ...{ lastUsedMs: null, pinnedChunks: 0 },
  };
}

/** A text that stands in several documents counts in each of them, once. */
function hold(chunk: StoredChunk, holder: Holder, ordinal: number | null): void {
  const { entry, places } = chunk;
  const place = { in: holder, ordinal };
  chunk.places = places === NOWHERE ? [place] : [...places, place];
  if (places.some((other) => other.in === holder)) return;
  holder.chunks++;
  holder.bytes += entry.bytes;
  holder.ramBytes += entry.inRam ? entry.bytes : 0;
  holder.hits += entry.hits;
  holder.pinnedChunks += Number(entry.pinned);
  if (entry.hits > 0) holder.lastUsedMs = Math.max(holder.lastUsedMs ?? 0, entry.lastUsedAt);
}

/** What stands nowhere any more, by label. */
function withoutPlace(chunks: readonly StoredChunk[]): Holder[] {
  const holders = new Map<string, Holder>();
  for (const chunk of chunks) {
    if (chunk.places.length > 0) continue;
    const { label } = chunk.entry;
    const holder = holders.get(label) ?? emptyHolder(label, null, null);
    holders.set(label, holder);
    hold(chunk, holder, null);
  }
  return [...holders.values()];
}

/** By name and by place in the document. Plain comparison of code units: a locale's order costs a second for 50,000 paths. */
async function byName(
  chunks: readonly StoredChunk[],
  holders: readonly Holder[],
): Promise<readonly StoredChunk[]> {
  const slice = new TimeSlice();
  const names = [...new Set(holders.map(({ document }) => document))].sort();
  await slice.step();
  const ranks = new Map(names.map((name, rank) => [name, rank]));
  await slice.step();
  return rising(
    chunks,
    chunks.map((chunk) => (ranks.get(nameOf(chunk)) ?? 0) * ORDINALS + (chunk.places[0]?.ordinal ?? 0)),
  );
}

/**
 * Items by rising keys; of equal ones the first stays first. Numbers alone are sorted, which takes a tenth of the time that comparing
 * items by a function does.
 */
function rising<T>(items: readonly T[], keys: readonly number[]): T[] {
  const sorted = Float64Array.from(keys).sort();
  const ranked = Float64Array.from(keys, (key, i) => firstAt(sorted, key) * keys.length + i).sort();
  return Array.from(ranked, (rank) => items[rank % keys.length] as T);
}

/** Where in rising numbers one of them stands first. */
function firstAt(sorted: Float64Array, key: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function ordered<T>(
  key: (row: T) => string | number,
  descending: boolean,
  tie: (a: T, b: T) => number,
): (a: T, b: T) => number {
  const sign = descending ? -1 : 1;
  return (a, b) => sign * compare(key(a), key(b)) || tie(a, b);
}
