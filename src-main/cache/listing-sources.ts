import type { DocumentName, DocumentTable } from '../catalogue/document-table.ts';
import type { KeyPlace, KvKeyTable } from '../catalogue/kv-key-table.ts';
import type { ChunkStore, ListedEntry } from '../kvstore/store.ts';
import { TimeSlice } from '../platform/time-slice.ts';

/** The sources of lists of the store's content: the store has the keys, the catalogue has the places of their texts. */
export interface ListingSources {
  store: Pick<ChunkStore, 'after'>;
  documents: Pick<DocumentTable, 'named'>;
  keys: Pick<KvKeyTable, 'places'>;
  /** Number formats in the store. */
  dtypes: readonly string[];
}

/** Rows read before yielding: a few milliseconds. */
const ENTRIES_AT_ONCE = 500;
const DOCUMENTS_AT_ONCE = 100;

/** All entries of the store; concurrent changes may or may not be included. */
export async function forEachEntry(
  { store }: ListingSources,
  body: (entry: ListedEntry) => void,
): Promise<void> {
  const slice = new TimeSlice();
  for (let page: ListedEntry[] | undefined; !page || page.length === ENTRIES_AT_ONCE;) {
    page = store.after(page?.at(-1)?.key ?? '', ENTRIES_AT_ONCE);
    for (const entry of page) body(entry);
    await slice.step();
  }
}

/** All documents, page by page, with the places of the texts of their keys. */
export async function forEachPage(
  { documents, keys, dtypes }: ListingSources,
  body: (documents: readonly DocumentName[], places: readonly KeyPlace[]) => void,
): Promise<void> {
  const slice = new TimeSlice();
  for (let page: DocumentName[] | undefined; !page || page.length === DOCUMENTS_AT_ONCE;) {
    page = documents.named(page?.at(-1)?.id ?? 0, DOCUMENTS_AT_ONCE);
    const ids = page.map(({ id }) => id);
    body(page, keys.places(ids, dtypes));
    await slice.step();
  }
}
