/**
 * Whether a long session grows: many questions to the sample library with the demo model, in conversations of several turns,
 * and the memory of the process along the way. Growth is of what is kept: garbage is collected before it is taken, since when V8
 * gets round to that says nothing of the session.
 *
 *   npm run bench:session -- [--questions 200] [--turns 5] [--out FILE.json]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Table from 'cli-table3';
import type { App } from '../src-main/app.ts';
import { ask, converse, withApp } from './lib/app.ts';
import { median } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';

const { values: args } = parseArgs({
  options: {
    questions: { type: 'string', default: '200' },
    turns: { type: 'string', default: '5' },
    out: { type: 'string', default: join('bench', 'results', 'session.json') },
  },
});

interface Sample {
  /** Questions asked before. */
  after: number;
  rssMiB: number;
  /** Once garbage is collected. */
  keptRssMiB: number;
  keptHeapMiB: number;
  /** Median time to first token of the questions since the last sample. */
  ttftMs: number;
}

const SAMPLES = 10;
const count = Number(args.questions);
const QUESTIONS = (
  JSON.parse(
    readFileSync(join(import.meta.dirname, '..', 'resources', 'sample-library.questions.json'), 'utf8'),
  ) as { question: string }[]
).map(({ question }) => question);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function run(app: App): Promise<Sample[]> {
  const samples: Sample[] = [];
  const times: number[] = [];
  let conversation = '';
  for (let asked = 0; asked < count; asked++) {
    if (asked % Number(args.turns) === 0) conversation = converse(app);
    const { ttftMs } = await ask(app, conversation, QUESTIONS[asked % QUESTIONS.length] ?? '');
    times.push(ttftMs.total);
    if ((asked + 1) % Math.max(1, Math.round(count / SAMPLES)) !== 0) continue;
    const before = process.memoryUsage.rss();
    collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    samples.push({
      after: asked + 1,
      rssMiB: Math.round(before / 2 ** 20),
      keptRssMiB: Math.round(rss / 2 ** 20),
      keptHeapMiB: Math.round(heapUsed / 2 ** 20),
      ttftMs: median(times.splice(0)),
    });
    process.stderr.write(`\r  ${asked + 1} of ${count} questions `);
  }
  process.stderr.write('\n');
  return samples;
}

const dataDir = mkdtempSync(join(tmpdir(), 'kvasir-session-'));
try {
  const samples = await withApp(dataDir, run);
  const table = new Table({
    head: ['questions', 'RSS MiB', 'kept', 'JS heap kept', 'TTFT ms'],
    style: { head: [], border: [] },
  });
  for (const { after, rssMiB, keptRssMiB, keptHeapMiB, ttftMs } of samples)
    table.push([after, rssMiB, keptRssMiB, keptHeapMiB, ttftMs.toFixed(0)]);
  console.log(table.toString());
  const middle = samples[Math.ceil(samples.length / 2) - 1];
  const growth = (samples.at(-1)?.keptRssMiB ?? 0) - (middle?.keptRssMiB ?? 0);
  console.log(`growth over the second half: ${growth} MiB`);
  writeResult('session', args.out, { growthMiB: growth, samples });
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
