import type { CacheDocument, CacheEntry } from '../../src-shared/contract/cache.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { KeyPlace, KvKeyTable } from '../catalogue/kv-key-table.ts';
import type { ChunkStore, ListedEntry } from '../kvstore/store.ts';
import { TimeSlice } from '../platform/time-slice.ts';

/** A stored chunk, and where its text stands: nowhere any more, or in several documents. */
interface StoredChunk {
  entry: ListedEntry;
  places: KeyPlace[];
}

interface ListingSources {
  store: Pick<ChunkStore, 'after'>;
  keys: Pick<KvKeyTable, 'documents' | 'places'>;
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
  /** By name, and by place in the document. */
  readonly chunks: readonly StoredChunk[];
  readonly #fingerprint: string | undefined;
  #sorted: { by: string; chunks: readonly StoredChunk[] } | undefined;
  #documents: CacheDocument[] | undefined;

  /** Reads piece by piece; what changes meanwhile may be in it or not. */
  static async make({ store, keys, dtypes, fingerprint }: ListingSources): Promise<CacheListing> {
    const slice = new TimeSlice();
    const byKey = new Map<string, StoredChunk>();
    let page: ListedEntry[] = [];
    do {
      page = store.after(page.at(-1)?.key ?? '', ENTRIES_AT_ONCE);
      for (const entry of page) byKey.set(entry.key, { entry, places: [] });
      await slice.step();
    } while (page.length === ENTRIES_AT_ONCE);
    const documents = keys.documents();
    for (let start = 0; start < documents.length; start += DOCUMENTS_AT_ONCE) {
      const some = documents.slice(start, start + DOCUMENTS_AT_ONCE);
      for (const place of keys.places(some, dtypes)) byKey.get(place.key)?.places.push(place);
      await slice.step();
    }
    return new CacheListing([...byKey.values()], fingerprint);
  }

  private constructor(chunks: readonly StoredChunk[], fingerprint: string | undefined) {
    this.#fingerprint = fingerprint;
    const names = chunks.map(nameOf);
    // Plain comparison of code units: a locale's order costs a second for 50,000 paths.
    const ranks = new Map([...new Set(names)].sort().map((name, rank) => [name, rank]));
    const order = names.map(
      (name, i) => (ranks.get(name) ?? 0) * ORDINALS + (chunks[i]?.places[0]?.ordinal ?? 0),
    );
    this.chunks = rising(chunks, order);
  }

  entries(query: EntryQuery): { total: number; items: CacheEntry[] } {
    const { search, documentId, sort, descending, offset, limit } = query;
    const by = JSON.stringify([search, documentId, sort, descending]);
    if (this.#sorted?.by !== by) this.#sorted = { by, chunks: this.#select(query) };
    const { chunks } = this.#sorted;
    const items = chunks.slice(offset, offset + limit).map((chunk) => this.#describe(chunk, documentId));
    return { total: chunks.length, items };
  }

  documents({ search, sort, descending, offset, limit }: DocumentQuery): {
    total: number;
    items: CacheDocument[];
  } {
    this.#documents ??= documentsOf(this.chunks);
    const needle = search.trim().toLowerCase();
    const found = this.#documents.filter(({ document }) => document.toLowerCase().includes(needle));
    const key = (row: CacheDocument): string | number =>
      sort === 'document' ? row.document : sort === 'lastUsed' ? (row.lastUsedMs ?? 0) : row[sort];
    found.sort(ordered(key, descending, (a, b) => compare(a.document, b.document)));
    return { total: found.length, items: found.slice(offset, offset + limit) };
  }

  /** Keys of all that stands in these documents. */
  keysOf(documentIds: readonly string[]): string[] {
    const ids = new Set(documentIds.map(Number));
    return this.chunks
      .filter(({ places }) => places.some(({ documentId }) => ids.has(documentId)))
      .map(({ entry }) => entry.key);
  }

  #select({ search, documentId, sort, descending }: EntryQuery): readonly StoredChunk[] {
    const needle = search.trim().toLowerCase();
    const id = documentId === undefined ? undefined : Number(documentId);
    const isWanted = (chunk: StoredChunk): boolean =>
      (needle === '' || nameOf(chunk).toLowerCase().includes(needle)) &&
      (id === undefined || chunk.places.some((place) => place.documentId === id));
    const found = needle === '' && id === undefined ? this.chunks : this.chunks.filter(isWanted);
    if (sort === 'document') return descending ? found.toReversed() : found;
    const field = sort === 'lastUsed' ? 'lastUsedAt' : sort;
    const sign = descending ? -1 : 1;
    return rising(
      found,
      found.map(({ entry }) => sign * entry[field]),
    );
  }

  #describe({ entry, places }: StoredChunk, documentId?: string): CacheEntry {
    const place = places.find((each) => String(each.documentId) === documentId) ?? places[0];
    const { key, tokens, bytes, dtype, hits, pinned } = entry;
    return {
      key,
      tokens,
      bytes,
      dtype,
      hits,
      pinned,
      documentId: place ? String(place.documentId) : null,
      document: place?.path ?? entry.label,
      ordinal: place?.ordinal ?? null,
      state: entry.inRam ? 'ram' : 'disk',
      lastUsedMs: hits > 0 ? entry.lastUsedAt : null,
      current: entry.fingerprint === this.#fingerprint,
    };
  }
}

function nameOf({ entry, places }: StoredChunk): string {
  return places[0]?.path ?? entry.label;
}

/** A text that stands in several documents counts in each of them. What stands nowhere any more is listed by its label. */
function documentsOf(chunks: readonly StoredChunk[]): CacheDocument[] {
  const documents = new Map<number | string, CacheDocument>();
  for (const { entry, places } of chunks) {
    const ids = places.map(({ documentId }) => documentId);
    const all = places.length === 0 ? [undefined] : places.filter((_, i) => ids.indexOf(ids[i] ?? 0) === i);
    for (const place of all) {
      const id = place?.documentId ?? entry.label;
      const known = documents.get(id) ?? emptyDocument(place, entry.label);
      documents.set(id, known);
      known.chunks++;
      known.bytes += entry.bytes;
      known.ramBytes += entry.inRam ? entry.bytes : 0;
      known.hits += entry.hits;
      known.pinnedChunks += Number(entry.pinned);
      if (entry.hits > 0) known.lastUsedMs = Math.max(known.lastUsedMs ?? 0, entry.lastUsedAt);
    }
  }
  return [...documents.values()];
}

function emptyDocument(place: KeyPlace | undefined, label: string): CacheDocument {
  return {
    documentId: place ? String(place.documentId) : null,
    document: place?.path ?? label,
    libraryId: place ? String(place.libraryId) : null,
    chunks: 0,
    bytes: 0,
    ramBytes: 0,
    hits: 0,
    lastUsedMs: null,
    pinnedChunks: 0,
  };
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
