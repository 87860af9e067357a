import Table from 'cli-table3';
import type { ServedRequest } from './load.ts';

interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

export interface ServedRow {
  method: string;
  load: string;
  /** Arrival rate in requests per second; null: closed loop. */
  rate: number | null;
  requests: number;
  /** Milliseconds. `perToken`: time per output token after the first. */
  ttft: Percentiles;
  perToken: Percentiles;
  total: Percentiles;
  meanTtft: number;
  tokensPerSecond: number;
  requestsPerSecond: number;
  /** Goodput: requests per second whose answers began within the limit. */
  goodput: number;
  /** TTFT of a single request, and the limit, in milliseconds. */
  idle: number;
  limit: number;
}

export function summary(
  served: readonly ServedRequest[],
  about: Pick<ServedRow, 'method' | 'load' | 'rate' | 'idle' | 'limit'>,
): ServedRow {
  const seconds =
    (Math.max(...served.map(({ ended }) => ended)) - Math.min(...served.map(({ came }) => came))) / 1000;
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const ttfts = served.map(({ ttftMs }) => ttftMs);
  return {
    ...about,
    requests: served.length,
    ttft: percentiles(ttfts),
    perToken: percentiles(
      served.map(({ ttftMs, totalMs, tokens }) => (totalMs - ttftMs) / Math.max(1, tokens - 1)),
    ),
    total: percentiles(served.map(({ totalMs }) => totalMs)),
    meanTtft: sum(ttfts) / served.length,
    tokensPerSecond: sum(served.map(({ tokens }) => tokens)) / seconds,
    requestsPerSecond: served.length / seconds,
    goodput: ttfts.filter((ms) => ms <= about.limit).length / seconds,
  };
}

/** Nearest-rank percentiles: always a measured value. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

export function printServed(rows: readonly ServedRow[]): void {
  const head = [
    'method',
    'load',
    'req/s came',
    'TTFT p50',
    'p95',
    'p99',
    'per token p50',
    'p95',
    'total p50',
    'p95',
  ];
  const table = new Table({
    head: [...head, 'tokens/s', 'req/s', 'goodput'],
    style: { head: [], border: [] },
  });
  const ms = (value: number): string => value.toFixed(0);
  for (const row of rows) {
    const { ttft, perToken, total } = row;
    table.push([
      ...[row.method, row.load, row.rate === null ? '' : row.rate.toFixed(3)],
      ...[ttft.p50, ttft.p95, ttft.p99, perToken.p50, perToken.p95, total.p50, total.p95].map(ms),
      ...[row.tokensPerSecond.toFixed(2), row.requestsPerSecond.toFixed(3), row.goodput.toFixed(3)],
    ]);
  }
  console.log(table.toString());
}
