export interface ChunkPlace {
  chunkId: number;
  documentId: number;
  ordinal: number;
}

export interface ChunkText {
  /** The document's title and the headings above the chunk. */
  title: string;
  text: string;
}

/** A chunk that matches a question. */
export interface Hit extends ChunkPlace {
  /** Larger is better. */
  score: number;
}

/** The chunk sets and documents to search. */
export interface SearchScope {
  chunkSetIds: readonly number[];
  /** Absent: every document of the sets. */
  documentIds?: readonly number[] | undefined;
  /** Documents whose chunks are taken from another set, with that set: they have no chunks in these yet. */
  standIns?: ReadonlyMap<number, number> | undefined;
}

/** A scope in the form that queries bind. */
export interface BoundScope {
  /** JSON: ids of chunk sets. */
  sets: string;
  /** JSON: ids of documents; null for all. */
  documents: string | null;
  /** JSON: pairs of a document's id and the id of the set used instead. */
  standIns: string;
}

export function boundScope({ chunkSetIds, documentIds, standIns }: SearchScope): BoundScope {
  if (!chunkSetIds.every(Number.isInteger)) throw new TypeError('chunkSetIds must be integers');
  return {
    sets: JSON.stringify(chunkSetIds),
    documents: documentIds ? JSON.stringify(documentIds) : null,
    standIns: JSON.stringify([...(standIns ?? [])]),
  };
}

/** Of a chunk `c`. */
export const IN_SCOPE = `(c.chunk_set_id IN (SELECT value FROM json_each(@sets))
      AND c.document_id NOT IN (SELECT value ->> 0 FROM json_each(@standIns))
    OR (c.document_id, c.chunk_set_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(@standIns)))
  AND (@documents IS NULL OR c.document_id IN (SELECT value FROM json_each(@documents)))`;
