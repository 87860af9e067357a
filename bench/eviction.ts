// `npm run bench:eviction`: hit rates of eviction policies on traces of requests, by cache size.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Table from 'cli-table3';
import { Command, Option } from 'commander';
import { ByWorkload, Gdfs, Lfu, Lru, Optimum, type Policy } from './eviction/policies.ts';
import { nextUses, replay } from './eviction/replay.ts';
import { generateTrace, numberBlocks, readTrace, type TraceRequest } from './eviction/trace.ts';
import { commit, machine } from './lib/machine.ts';

/** Share of the trace's distinct blocks that the cache holds. */
const SIZES = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

const POLICIES: Record<string, (capacity: number, blocks: number) => Policy> = {
  LRU: (capacity, blocks) => new Lru(capacity, blocks),
  LFU: (capacity, blocks) => new Lfu(capacity, blocks),
  GDFS: (capacity, blocks) => new Gdfs(capacity, blocks),
  'workload-aware': (capacity) => new ByWorkload(capacity),
  optimum: (capacity, blocks) => new Optimum(capacity, blocks),
};

interface Row {
  trace: string;
  size: number;
  capacity: number;
  hitRates: Record<string, number>;
}

const program = new Command('bench:eviction')
  .addOption(
    new Option('--trace <file>', 'a trace in the public Qwen format (JSONL) instead of generated ones'),
  )
  .addOption(new Option('--seeds <list>', 'seeds of the generated traces').default('1,2,3'))
  .addOption(new Option('--requests <n>', 'requests of a generated trace').default('5000'))
  .addOption(new Option('--out <file>', 'where the JSON goes').default('bench/results/eviction.json'))
  .parse();
const {
  trace: file,
  seeds,
  requests,
  out,
} = program.opts<Record<'trace' | 'seeds' | 'requests' | 'out', string>>();

const traces: [string, TraceRequest[]][] =
  (file as string | undefined) === undefined
    ? seeds
        .split(',')
        .map((seed) => [
          `generated, seed ${seed}`,
          generateTrace({ seed: Number(seed), requests: Number(requests), users: 400, rate: 1 }),
        ])
    : [[file, readTrace(file)]];

const rows = traces.flatMap(([name, trace]) => run(name, trace));
print(rows);
mkdirSync(dirname(out), { recursive: true });
const command = `npm run bench:eviction -- ${process.argv.slice(2).join(' ')}`.trim();
writeFileSync(
  join(out),
  `${JSON.stringify({ command, commit: commit(), machine: machine(), rows }, null, 2)}\n`,
);
console.log(`\n${out}`);

function run(name: string, trace: TraceRequest[]): Row[] {
  const distinct = numberBlocks(trace);
  const uses = nextUses(trace);
  return SIZES.map((size) => {
    const capacity = Math.max(1, Math.round(distinct * size));
    const hitRates = Object.fromEntries(
      Object.entries(POLICIES).map(([policy, make]) => [
        policy,
        replay(trace, uses, make(capacity, distinct)),
      ]),
    );
    return { trace: name, size, capacity, hitRates };
  });
}

function print(all: readonly Row[]): void {
  const names = Object.keys(POLICIES);
  const table = new Table({ head: ['trace', 'cache', 'blocks', ...names, 'against LRU'] });
  for (const { trace, size, capacity, hitRates } of all) {
    const gain = (hitRates['workload-aware'] ?? 0) / (hitRates['LRU'] ?? 1) - 1;
    table.push([
      trace,
      `${(size * 100).toFixed(1)} %`,
      capacity,
      ...names.map((name) => `${((hitRates[name] ?? 0) * 100).toFixed(1)} %`),
      `${gain >= 0 ? '+' : ''}${(gain * 100).toFixed(1)} %`,
    ]);
  }
  console.log(table.toString());
}
