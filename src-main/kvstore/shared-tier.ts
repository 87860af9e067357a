/** Chunk files that several machines share, by the store's keys (docs/formats/store.md). Values are whole chunk files (docs/formats/chunk-kv.md). */
export interface SharedTier {
  /** False while nothing is set, and while it was taken out since it did not answer. */
  readonly available: boolean;
  /** May be written to, if not now then once it answers. */
  readonly writable: boolean;
  /** Which of these are there; one round trip, answers what it remembers while it can. Never rejects: what cannot be asked is not there. */
  has(keys: readonly string[]): Promise<Set<string>>;
  /** Opens a value: its size, and reading of byte ranges [from, from + bytes). undefined when it is not there. Rejects with SHARED_TIER_FAILED (timeout, cut, refused, decryption). */
  open(key: string, signal?: AbortSignal): Promise<SharedValue | undefined>;
  /** Takes a chunk file to be written some time later; returns at once, never in an answer's way. */
  offer(key: string, path: string): void;
  /** The value was wrong (checksum): it is told, and asked for no more. */
  reportCorrupt(key: string): void;
}

export interface SharedValue {
  readonly bytes: number;
  read(from: number, bytes: number): Promise<Uint8Array>;
  close(): void;
}
