import type { CacheDocument } from '../../src-shared/contract/cache.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { ListedEntry } from '../kvstore/store.ts';
import { forEachEntry, forEachPage, type ListingSources } from './listing-sources.ts';

type DocumentQuery = ParsedInputOf<'cache.documents'>;

/**
 * The documents that the store holds chunks of, with totals. Entries are summed as they are read and not kept: there are tens of thousands.
 */
export class DocumentListing {
  readonly #documents: readonly CacheDocument[];

  static async make(sources: ListingSources): Promise<DocumentListing> {
    const documents: CacheDocument[] = [];
    const byKey = new Map<string, CacheDocument | CacheDocument[]>();
    await forEachPage(sources, (page, places) => {
      const known = new Map(
        page.map(({ id, libraryId, path }) => [id, emptyDocument(path, String(id), String(libraryId))]),
      );
      for (const { key, documentId } of places) {
        const document = known.get(documentId);
        if (document) put(byKey, key, document);
      }
      documents.push(...known.values());
    });
    const byLabel = new Map<string, CacheDocument>();
    await forEachEntry(sources, (entry) => {
      const found = byKey.get(entry.key) ?? labelled(byLabel, entry.label);
      for (const document of Array.isArray(found) ? found : [found]) count(document, entry);
    });
    return new DocumentListing([...documents.filter(({ chunks }) => chunks > 0), ...byLabel.values()]);
  }

  private constructor(documents: readonly CacheDocument[]) {
    this.#documents = documents;
  }

  page({ search, sort, descending, offset, limit }: DocumentQuery): {
    total: number;
    items: CacheDocument[];
  } {
    const needle = search.trim().toLowerCase();
    const found =
      needle === ''
        ? [...this.#documents]
        : this.#documents.filter(({ document }) => document.toLowerCase().includes(needle));
    const key = (row: CacheDocument): string | number =>
      sort === 'document' ? row.document : sort === 'lastUsed' ? (row.lastUsedMs ?? 0) : row[sort];
    const sign = descending ? -1 : 1;
    found.sort((a, b) => sign * compare(key(a), key(b)) || compare(a.document, b.document));
    return { total: found.length, items: found.slice(offset, offset + limit) };
  }
}

function emptyDocument(document: string, documentId: string | null, libraryId: string | null): CacheDocument {
  return {
    ...{ documentId, document, libraryId, chunks: 0, bytes: 0, ramBytes: 0, hits: 0 },
    ...{ lastUsedMs: null, pinnedChunks: 0 },
  };
}

/** A text that occurs in several documents counts once in each. */
function put(
  byKey: Map<string, CacheDocument | CacheDocument[]>,
  key: string,
  document: CacheDocument,
): void {
  const there = byKey.get(key);
  if (there === undefined) byKey.set(key, document);
  else if (!Array.isArray(there)) {
    if (there !== document) byKey.set(key, [there, document]);
  } else if (!there.includes(document)) there.push(document);
}

/** Entries whose text no longer occurs anywhere are grouped by label. */
function labelled(byLabel: Map<string, CacheDocument>, label: string): CacheDocument {
  const document = byLabel.get(label) ?? emptyDocument(label, null, null);
  byLabel.set(label, document);
  return document;
}

function count(document: CacheDocument, entry: ListedEntry): void {
  document.chunks++;
  document.bytes += entry.bytes;
  document.ramBytes += entry.inRam ? entry.bytes : 0;
  document.hits += entry.hits;
  document.pinnedChunks += Number(entry.pinned);
  if (entry.hits > 0) document.lastUsedMs = Math.max(document.lastUsedMs ?? 0, entry.lastUsedAt);
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
