import type { CacheDocument, CacheEntry } from '../../src-shared/contract/cache.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { KeyPlace } from '../catalogue/kv-key-table.ts';
import type { ChunkEntry } from '../kvstore/store.ts';

/** A stored chunk, and where its text stands: nowhere any more, or in several documents. */
interface StoredChunk {
  entry: ChunkEntry;
  places: KeyPlace[];
}

type EntryQuery = ParsedInputOf<'cache.entries'>;
type DocumentQuery = ParsedInputOf<'cache.documents'>;

/** What the store holds at one time, joined with the catalogue. */
export class CacheListing {
  readonly chunks: readonly StoredChunk[];
  readonly #fingerprint: string | undefined;
  #sorted: { by: string; chunks: StoredChunk[] } | undefined;
  #documents: CacheDocument[] | undefined;

  /** `fingerprint`: of the active model. */
  constructor(entries: readonly ChunkEntry[], places: readonly KeyPlace[], fingerprint: string | undefined) {
    const byKey = new Map<string, StoredChunk>(entries.map((entry) => [entry.key, { entry, places: [] }]));
    for (const place of places) byKey.get(place.key)?.places.push(place);
    this.chunks = [...byKey.values()];
    this.#fingerprint = fingerprint;
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
    found.sort(order(key, descending, (row) => row.document));
    return { total: found.length, items: found.slice(offset, offset + limit) };
  }

  /** Keys of all that stands in these documents. */
  keysOf(documentIds: readonly string[]): string[] {
    const ids = new Set(documentIds.map(Number));
    return this.chunks
      .filter(({ places }) => places.some(({ documentId }) => ids.has(documentId)))
      .map(({ entry }) => entry.key);
  }

  #select({ search, documentId, sort, descending }: EntryQuery): StoredChunk[] {
    const needle = search.trim().toLowerCase();
    const id = documentId === undefined ? undefined : Number(documentId);
    const found = this.chunks.filter(
      (chunk) =>
        nameOf(chunk).toLowerCase().includes(needle) &&
        (id === undefined || chunk.places.some((place) => place.documentId === id)),
    );
    const name = (chunk: StoredChunk): string =>
      `${nameOf(chunk)}\0${String(chunk.places[0]?.ordinal ?? 0).padStart(9, '0')}`;
    const key = ({ entry }: StoredChunk): number =>
      sort === 'lastUsed' ? entry.lastUsedAt : entry[sort as 'bytes'];
    return found.sort(order(sort === 'document' ? name : key, descending, name));
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
  const documents = new Map<string, CacheDocument>();
  for (const { entry, places } of chunks) {
    const byDocument = new Map(places.map((place) => [place.documentId, place]));
    for (const place of byDocument.size > 0 ? byDocument.values() : [undefined]) {
      const id = place ? String(place.documentId) : `label ${entry.label}`;
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

/** Plain comparison of code units: a locale's order costs a second for 50,000 paths. */
function order<T>(
  key: (row: T) => string | number,
  descending: boolean,
  tie: (row: T) => string,
): (a: T, b: T) => number {
  const sign = descending ? -1 : 1;
  const compare = <V extends string | number>(x: V, y: V): number => (x < y ? -1 : x > y ? 1 : 0);
  return (a, b) => sign * compare(key(a), key(b)) || compare(tie(a), tie(b));
}
