import Table from 'cli-table3';
import { percentiles } from '../serve/summary.ts';

/** A request's outcome. Seconds since the first request; milliseconds since it was sent. */
export interface Sample {
  time: number;
  /** Of the server, after the answer. */
  rssMiB: number;
  ttftMs?: number;
  totalMs?: number;
  /** The answer equals the one to the same request alone. */
  same?: boolean;
  error?: string;
}

export interface Tenth {
  /** Minutes since the start. */
  from: number;
  to: number;
  requests: number;
  failed: number;
  different: number;
  ttft: { p50: number; p95: number; p99: number };
  total: { p50: number; p95: number; p99: number };
  rssMiB: number;
}

/** Summary of the requests in each tenth of the time. */
export function tenths(samples: readonly Sample[], seconds: number): Tenth[] {
  return Array.from({ length: 10 }, (_, i): Tenth => {
    const [from, to] = [(seconds * i) / 10, (seconds * (i + 1)) / 10];
    const some = samples.filter(({ time }) => time >= from && time < to);
    return {
      ...{ from: from / 60, to: to / 60, requests: some.length },
      failed: some.filter(({ error }) => error !== undefined).length,
      different: some.filter(({ same }) => same === false).length,
      ttft: percentiles(some.flatMap(({ ttftMs }) => ttftMs ?? [])),
      total: percentiles(some.flatMap(({ totalMs }) => totalMs ?? [])),
      rssMiB: Math.max(...some.map(({ rssMiB }) => rssMiB)),
    };
  });
}

export function printTenths(rows: readonly Tenth[]): void {
  const table = new Table({
    head: [
      'minutes',
      'requests',
      'failed',
      'other texts',
      'TTFT p50',
      'p95',
      'p99',
      'total p50',
      'p95',
      'RSS MiB',
    ],
    style: { head: [], border: [] },
  });
  const whole = (value: number): string => value.toFixed(0);
  for (const { from, to, requests, failed, different, ttft, total, rssMiB } of rows)
    table.push([
      ...[`${from.toFixed(1)} – ${to.toFixed(1)}`, requests, failed, different],
      ...[ttft.p50, ttft.p95, ttft.p99, total.p50, total.p95, rssMiB].map(whole),
    ]);
  console.log(table.toString());
}
