import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './table.ts';

const TOOL = join(import.meta.dirname, '..', '..', 'build', 'native', 'kvasir-peaks');

/** The machine's peaks, measured now. */
interface Peaks {
  /** Multiply-add on registers, all threads: instruction set → billions of operations per second. */
  gflops: Record<string, number>;
  /** Single-threaded memory copy, bytes read and written, in billions per second. */
  gbytesPerSecond: number;
}

export function measurePeaks(threads: number): Peaks | undefined {
  if (!existsSync(TOOL)) return undefined;
  const flags = ['--threads', String(threads)];
  const peaks = JSON.parse(execFileSync(TOOL, flags, { encoding: 'utf8' })) as {
    name: string;
    gflops: number;
  }[];
  if (peaks.length === 0) return undefined;
  return {
    gflops: Object.fromEntries(peaks.map(({ name, gflops }) => [name, gflops])),
    gbytesPerSecond: copySpeed(),
  };
}

/** One line per method: the minimum time of its work at the measured peaks, and the measured time. */
export function rooflineOf(rows: readonly Row[], peaks: Peaks): string[] {
  const [name, best] = Object.entries(peaks.gflops).reduce((a, b) => (b[1] > a[1] ? b : a));
  return rows.flatMap(({ context, method, medianMs, gflop, gbytes }) => {
    if (gflop === undefined || gbytes === undefined) return [];
    const [compute, memory] = [gflop / best, gbytes / peaks.gbytesPerSecond];
    const least = Math.max(compute, memory);
    const bound =
      compute >= memory
        ? `${gflop.toFixed(0)} GFLOP at ${best.toFixed(0)} GFLOP/s (${name})`
        : `${gbytes.toFixed(1)} GB`;
    const share = ((100 * least) / (medianMs / 1000)).toFixed(0);
    return [
      `${context} tokens, ${method}: at least ${least.toFixed(2)} s for ${bound}; ${share} % of that limit reached`,
    ];
  });
}

function copySpeed(): number {
  const from = Buffer.alloc(256 << 20, 1);
  const to = Buffer.alloc(from.length);
  let best = Infinity;
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    from.copy(to);
    best = Math.min(best, performance.now() - start);
  }
  return (2 * from.length) / 1e6 / best;
}
