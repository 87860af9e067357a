/**
 * Measures the program with large libraries: searching, listing, deleting, choosing what to evict, starting, opening
 * the chunk store after a kill, memory, and how long the main thread is held.
 *
 *   npm run bench:scale -- [--passages 10000,100000] [--dimension 768] [--searches 200] [--keep FOLDER] [--out FILE.json]
 *
 * The passages are generated from a fixed seed, 50 in a document: 120 words each whose frequencies follow Zipf's law (English function words
 * first, then 200,000 made-up words), and unit vectors around a thousand topics. They are written into the real database; the app then opens
 * it in a fresh process with the demo model. Vectors are searched by the real service with an embedder that returns a vector at no cost.
 * Questions are six neighbouring words of a text from another seed. `--keep` keeps the libraries for the next run.
 *
 * "held" is the longest time that the event loop did not turn. Memory includes the demo model and SQLite's page cache; "vectors" adds the
 * compact copy of the vectors that searches scan.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { resolvePaths } from '../src-main/platform/paths.ts';
import { writeResult } from './lib/result.ts';
import { writeScaleLibrary } from './scale/library.ts';
import type { ScaleResult } from './scale/measure.ts';

const { values: args } = parseArgs({
  options: {
    passages: { type: 'string', default: '10000,100000' },
    dimension: { type: 'string', default: '768' },
    searches: { type: 'string', default: '200' },
    keep: { type: 'string' },
    out: { type: 'string' },
  },
});

const dir = args.keep ?? mkdtempSync(join(tmpdir(), 'kvasir-scale-'));
try {
  const results: ScaleResult[] = [];
  for (const passages of args.passages.split(',').map(Number)) results.push(await measure(passages));
  writeResult('scale', args.out, {
    dimension: Number(args.dimension),
    searches: Number(args.searches),
    results,
  });
} finally {
  if (args.keep === undefined) rmSync(dir, { recursive: true, force: true });
}

async function measure(passages: number): Promise<ScaleResult> {
  const data = join(dir, `${passages}x${args.dimension}`);
  const { catalogue } = resolvePaths(data);
  if (!existsSync(catalogue)) {
    mkdirSync(data, { recursive: true });
    await writeScaleLibrary(catalogue, passages, Number(args.dimension));
  }
  const program = join(import.meta.dirname, 'scale', 'measure.ts');
  const given = [...process.execArgv, program, data, args.dimension, args.searches];
  const output = execFileSync(process.execPath, given, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const result = JSON.parse(output.trim().split('\n').at(-1) ?? '') as ScaleResult;
  print(result);
  return result;
}

function print({ passages, rows, rssMiB }: ScaleResult): void {
  const table = new Table({
    head: [`${passages.toLocaleString('en')} passages`, 'p50 ms', 'p95', 'max', 'held'],
    style: { head: [], border: [] },
  });
  for (const { what, p50, p95, max, heldMs } of rows)
    table.push([what, ...[p50, p95, max, heldMs].map((ms) => ms.toFixed(1))]);
  console.log(table.toString());
  const memory = Object.entries(rssMiB).map(([when, size]) => `${when} ${size.toFixed(0)} MiB`);
  console.log(`resident memory: ${memory.join(', ')}`);
}
