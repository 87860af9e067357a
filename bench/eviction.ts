// `npm run bench:eviction`: hit rates of eviction policies on traces of requests, by cache size.
import Table from 'cli-table3';
import { Command, Option } from 'commander';
import { generateChunkTrace } from './eviction/chunk-trace.ts';
import { ByStore, ByWorkload, Gdfs, Lfu, Lru, Optimum, type Policy } from './eviction/policies.ts';
import { asChunks, asPrefix, nextUses, replay } from './eviction/replay.ts';
import { generateTrace, numberBlocks, readTrace, type TraceRequest } from './eviction/trace.ts';
import { writeResult } from './lib/result.ts';

/** Share of the trace's distinct blocks that the cache holds. */
const SIZES = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4];

const POLICIES: Record<string, (capacity: number, blocks: number, what: What) => Policy> = {
  LRU: (capacity, blocks) => new Lru(capacity, blocks),
  LFU: (capacity, blocks) => new Lfu(capacity, blocks),
  GDFS: (capacity, blocks) => new Gdfs(capacity, blocks),
  'workload-aware': (capacity, _, what) =>
    what === 'chunks' ? new ByStore(capacity) : new ByWorkload(capacity),
  optimum: (capacity, blocks) => new Optimum(capacity, blocks),
};

/** Text chunks, each by itself, kept as the store keeps them; or blocks of prefixes, kept by claims. */
type What = 'chunks' | 'prefixes';

interface Run {
  what: What;
  name: string;
  trace: TraceRequest[];
}

interface Row {
  what: What;
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

const runs: Run[] =
  (file as string | undefined) === undefined
    ? seeds.split(',').flatMap((seed) => generated(Number(seed), Number(requests)))
    : [{ what: 'prefixes', name: file, trace: readTrace(file) }];

const rows = runs.flatMap(run);
print(rows);
writeResult('eviction', out, { rows });

function generated(seed: number, count: number): Run[] {
  return [
    { what: 'chunks', name: `chunks, seed ${seed}`, trace: generateChunkTrace({ seed, requests: count }) },
    {
      what: 'prefixes',
      name: `prefixes, seed ${seed}`,
      trace: generateTrace({ seed, requests: count, users: 400, rate: 1 }),
    },
  ];
}

function run({ what, name, trace }: Run): Row[] {
  const distinct = numberBlocks(trace);
  const uses = nextUses(trace);
  const served = what === 'chunks' ? asChunks : asPrefix;
  return SIZES.map((size) => {
    const capacity = Math.max(1, Math.round(distinct * size));
    const hitRates = Object.fromEntries(
      Object.entries(POLICIES).map(([policy, make]) => [
        policy,
        replay(trace, uses, make(capacity, distinct, what), served),
      ]),
    );
    return { what, trace: name, size, capacity, hitRates };
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
