/**
 * Evaluates the automatic thread count: the time of a prefill and of decoding with each fixed number of threads and with Kvasir's automatic
 * number, next to zero, one, two and four other busy processes.
 *
 *   npm run bench:threads -- [--model F.gguf] [--tokens 256] [--decode 24] [--rounds 5] [--busy 0,1,2,4] [--out FILE.json]
 *
 * All thread counts alternate within a round, in rotating order. A ratio compares medians: automatic to the best fixed number. Everything
 * runs in one process with one instance of the model per thread count; the others' threads sleep meanwhile.
 */
import { spawn } from 'node:child_process';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { Engine, type Model } from '../src-main/engine/engine.ts';
import { cpuTicks, median, stealPercent } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';

const ROOT = join(import.meta.dirname, '..');
const { values: args } = parseArgs({
  options: {
    model: { type: 'string', default: join(ROOT, 'resources', 'models', 'kvasir-demo.gguf') },
    tokens: { type: 'string', default: '256' },
    decode: { type: 'string', default: '24' },
    rounds: { type: 'string', default: '5' },
    busy: { type: 'string', default: '0,1,2,4' },
    out: { type: 'string' },
  },
});
/** A thread count slower than the best by more than this factor is a bad choice. */
const BAR = 1.15;
/** Time for other processes to start or end. */
const SETTLE_MS = 1000;
/** Pause between two variants: the scheduler gives less time to a process that has just had much, and the order of variants is fixed. */
const PAUSE_MS = 500;
const TOKENS = Number(args.tokens);
const DECODE = Number(args.decode);

interface Times {
  prefillMs: number[];
  tokenMs: number[];
}
interface Variant extends Times {
  /** 0: automatic. */
  threads: number;
  model: Model;
}

/** Uses different tokens each time, since cached ones are not recomputed. */
async function measure({ model, prefillMs, tokenMs }: Variant): Promise<void> {
  const ids = () => Math.floor(Math.random() * model.info.vocabSize);
  const session = model.createSession(TOKENS + DECODE + 8);
  try {
    const start = performance.now();
    await session.append([{ kind: 'compute', tokens: Int32Array.from({ length: TOKENS }, ids) }], {
      kind: 'full',
    });
    prefillMs.push(performance.now() - start);
    const { tokens, ms } = await session.generate({ maxTokens: DECODE, sampling: { drafting: 'off' } });
    if (tokens.length > DECODE / 4) tokenMs.push(ms / tokens.length);
  } finally {
    session.dispose();
  }
}

/** Fixed numbers first. */
async function beside(busy: number, models: Pick<Variant, 'threads' | 'model'>[]): Promise<Row[]> {
  const others = Array.from({ length: busy }, () => spawn(process.execPath, ['-e', 'for (;;);']));
  const variants = models.map((each): Variant => ({ ...each, prefillMs: [], tokenMs: [] }));
  const before = cpuTicks();
  try {
    await sleep(SETTLE_MS);
    for (let round = 0; round < Number(args.rounds); round++)
      for (let i = 0; i < variants.length; i++) {
        const variant = variants[(i + round) % variants.length];
        await sleep(PAUSE_MS);
        if (variant) await measure(variant);
      }
  } finally {
    for (const other of others) other.kill();
  }
  const steal = stealPercent(before);
  return (['prefillMs', 'tokenMs'] as const).map((of): Row => {
    const times = variants.map((v) => ({ threads: v.threads, ms: median(v[of]) }));
    const automatic = times.find(({ threads }) => threads === 0)?.ms ?? NaN;
    const best = Math.min(...times.filter(({ threads }) => threads > 0).map(({ ms }) => ms));
    const ratio = automatic / best;
    return { busy, of, times, ratio, met: ratio <= BAR, stealPercent: steal };
  });
}

interface Row {
  busy: number;
  of: keyof Times;
  times: { threads: number; ms: number }[];
  /** Automatic relative to the best fixed number. */
  ratio: number;
  met: boolean;
  stealPercent: number;
}

const engine = Engine.open();
const automatic = { threads: 0, model: await engine.loadModel(args.model, { device: 'cpu' }) };
const fixed = await Promise.all(
  Array.from({ length: automatic.model.info.threads }, async (_, i) => ({
    threads: i + 1,
    model: await engine.loadModel(args.model, { device: 'cpu', threads: i + 1 }),
  })),
);
const models = [...fixed, automatic];
for (const each of models) await measure({ ...each, prefillMs: [], tokenMs: [] });
const rows: Row[] = [];
for (const busy of args.busy.split(',')) {
  rows.push(...(await beside(Number(busy), models)));
  console.error(
    `${busy} busy processes: ${rows
      .slice(-2)
      .map(({ of, ratio }) => `${of} ${ratio.toFixed(2)}`)
      .join(', ')}`,
  );
}

const table = new Table({
  head: [
    'busy processes',
    'what',
    ...models.map(({ threads }) => (threads ? `${threads} ms` : 'automatic ms')),
    'ratio',
    `bar ${BAR}`,
  ],
  style: { head: [], border: [] },
});
for (const { busy, of, times, ratio, met } of rows)
  table.push([
    busy,
    of === 'prefillMs' ? `prefill of ${TOKENS}` : 'token',
    ...times.map(({ ms }) => ms.toFixed(ms < 100 ? 2 : 0)),
    ratio.toFixed(2),
    met ? 'met' : 'missed',
  ]);
console.log(`${basename(args.model)}\n${table.toString()}`);
for (const { model } of models) model.dispose();
writeResult('threads', args.out, { model: basename(args.model), bar: BAR, rows });
