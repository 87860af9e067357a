/**
 * Chunk files shared by several machines, under the store's keys (docs/formats/store.md). Values are whole chunk files
 * (docs/formats/chunk-kv.md).
 */
export interface SharedTier {
  /** False if no tier is configured, and while the circuit breaker is open. */
  readonly available: boolean;
  /** Writing is allowed; while the tier is unreachable, writes are queued. */
  readonly writable: boolean;
  /**
   * The keys that exist in the tier; one round trip, using cached results where possible. Never rejects: keys that
   * cannot be looked up count as missing.
   */
  has(keys: readonly string[]): Promise<Set<string>>;
  /**
   * Opens a value: its size, and a reader for byte ranges [from, from + bytes). undefined if it does not exist. Rejects
   * with SHARED_TIER_FAILED (timeout, dropped connection, refused, decryption).
   */
  open(key: string, signal?: AbortSignal): Promise<SharedValue | undefined>;
  /** Queues a chunk file for writing; returns immediately and never delays an answer. */
  offer(key: string, path: string): void;
  /** Call when a value fails its checksum; the tier stops serving it. */
  reportCorrupt(key: string): void;
}

export interface SharedValue {
  readonly bytes: number;
  read(from: number, bytes: number): Promise<Uint8Array>;
  close(): void;
}
