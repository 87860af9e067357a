/**
 * Measures the speed of a shared cache.
 *
 *   npm run bench:sharing -- [--mb 56] [--count 8]
 *
 * measures the program's own overhead, without a network: a folder, Redis and a small S3 server, all on this machine.
 *
 *   npm run bench:sharing -- --gbit 1 [--shapes 0.6b,stories-15m,much-kv] [--type q8_0] [--context 512] [--chunk 256]
 *                            [--question 32] [--rounds 5] [--threads N] [--device cpu] [--out FILE.json]
 *
 * throttles a folder to this many Gbit/s, and compares for each shape the controller's decision for a prompt that another machine has
 * computed with loading all of it and computing all of it: the times, their predictions, and whether the controller chose the faster. Token
 * ids are random: the work does not depend on them.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuTicks, stealPercent } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { measureLine, printLine } from './sharing/line.ts';
import { measurePlaces } from './sharing/places.ts';

const { values: args } = parseArgs({
  options: {
    mb: { type: 'string', default: '56' },
    count: { type: 'string', default: '8' },
    gbit: { type: 'string' },
    shapes: { type: 'string', default: '0.6b,stories-15m,much-kv' },
    type: { type: 'string', default: 'q8_0' },
    context: { type: 'string', default: '512' },
    chunk: { type: 'string', default: '256' },
    question: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '0' },
    device: { type: 'string', default: 'cpu' },
    out: { type: 'string' },
  },
});

if (args.gbit === undefined) await measurePlaces({ bytes: Number(args.mb) * 1e6, count: Number(args.count) });
else {
  const gbit = Number(args.gbit);
  const about = {
    ...{ gbit, type: args.type, device: args.device, rounds: Number(args.rounds) },
    contextTokens: Number(args.context),
    chunkTokens: Number(args.chunk),
    questionTokens: Number(args.question),
  };
  const ticks = cpuTicks();
  const shapes = [];
  for (const shape of args.shapes.split(','))
    shapes.push(await measureLine(shape, { ...about, threads: Number(args.threads) }));
  printLine(shapes);
  const out = args.out ?? join('bench', 'results', `sharing-${gbit}gbit.json`);
  writeResult('sharing', out, { stealPercent: stealPercent(ticks), ...about, shapes });
}
