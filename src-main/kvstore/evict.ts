import { leastWorthFirst } from './eviction/policy.ts';
import type { ChunkRow } from './index-db.ts';
import type { EvictRequest } from './types.ts';

export interface Victims {
  rows: ChunkRow[];
  bytes: number;
  /** Keys of covered entries that must stay. */
  staying: string[];
}

/** The criteria for choosing victims: a maximum number of entries, and a minimum of bytes. */
type EvictionCriteria = Omit<EvictRequest, 'keys'> & {
  keys?: readonly string[] | undefined;
  bytes: number;
  most: number;
  /** Only entries of a lower worth. Default: all. */
  below?: number | undefined;
};

/**
 * Reads unpinned rows, by class, in the policy's order and picks those the request covers, until it has enough. Writes
 * nothing, so `queues` may be open queries.
 */
export function chooseVictims(
  queues: Iterable<Iterable<ChunkRow>>,
  policy: { worth(row: ChunkRow, now: number): number },
  request: EvictionCriteria,
  mustStay: (row: ChunkRow) => boolean,
  now: number,
): Victims {
  const victims: Victims = { rows: [], bytes: 0, staying: [] };
  const keys = request.keys && new Set(request.keys);
  if (request.bytes <= 0) return victims;
  for (const row of leastWorthFirst(queues, policy, now)) {
    if (request.below !== undefined && policy.worth(row, now) >= request.below) break;
    if (keys && !keys.has(row.key)) continue;
    if (mustStay(row)) {
      victims.staying.push(row.key);
      continue;
    }
    victims.rows.push(row);
    victims.bytes += row.bytes;
    if (victims.bytes >= request.bytes || victims.rows.length === request.most) break;
  }
  return victims;
}

/** Checks for misuse: a request must have a criterion, and only valid values. */
export function requireEvictRequest(request: EvictRequest): void {
  const { bytes, all, keys } = request;
  if (bytes === undefined && !all && keys === undefined) {
    throw new TypeError('ChunkStore.evict: the request names neither bytes, all nor keys.');
  }
  if (bytes !== undefined && !(bytes >= 0)) throw new TypeError('ChunkStore.evict: bytes must be 0 or more.');
}
