/**
 * Runs the server under load for a long time: requests arrive at random (Poisson) at a share of the saturation rate, and every answer is
 * compared with the answer to the same request alone.
 *
 *   npm run bench:soak -- [--minutes 60] [--load 0.8] [--clients 8] [--out FILE.json]
 *
 * Starts the real server (`serve --api`) with the demo model and the sample library, and asks through the official OpenAI client: questions
 * to the library, prompts with passages marked as cacheable, and plain ones, all greedy and streamed. Each request names the strategy:
 * `auto` may choose by load, which would legitimately change texts. The saturation rate is that of `--clients` clients that ask again
 * without pause. Time to first token, memory and errors are reported for each tenth of the time. Exits with an error if a request failed or
 * a text differed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { randomFrom } from '../src-main/testing/random.ts';
import { exponential } from './lib/draws.ts';
import { median } from './lib/machine.ts';
import { writeResult } from './lib/result.ts';
import { SoakClient, type Answer } from './soak/client.ts';
import { questions, type SoakQuestion } from './soak/questions.ts';
import { startServer } from './soak/server.ts';
import { printTenths, tenths, type Sample } from './soak/tenths.ts';

const { values: args } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    load: { type: 'string', default: '0.8' },
    clients: { type: 'string', default: '8' },
    out: { type: 'string' },
  },
});
const seconds = Number(args.minutes) * 60;
/** Duration of the saturation measurement. */
const SATURATION_SECONDS = Math.min(60, seconds);

const dir = mkdtempSync(join(tmpdir(), 'kvasir-soak-'));
const server = await startServer(dir);
try {
  const asker = new SoakClient(server.baseURL);
  const asked = questions();
  const alone = await allAlone(asker, asked);
  const saturation = await saturationRate(asker, asked, Number(args.clients));
  const rate = Number(args.load) * saturation;
  console.log(
    `${asked.length} requests; alone ${alone.ms.toFixed(0)} ms to the first token (median); ` +
      `saturated at ${saturation.toFixed(2)} requests/s, so requests arrive at ${rate.toFixed(2)}`,
  );
  const samples = await openLoop(asker, asked, alone.texts, rate);
  const rows = tenths(samples, seconds);
  printTenths(rows);
  const failures = samples.filter(({ error }) => error !== undefined);
  const different = samples.filter(({ same }) => same === false);
  console.log(`${samples.length} requests: ${failures.length} failed, ${different.length} different texts`);
  for (const { error } of failures.slice(0, 5)) console.log(`  ${error}`);
  writeResult('soak', args.out, {
    ...{ minutes: seconds / 60, load: Number(args.load), threads: availableParallelism(), saturation, rate },
    ...{
      aloneTtftMs: alone.ms,
      requests: samples.length,
      failed: failures.length,
      different: different.length,
    },
    rows,
  });
  if (failures.length + different.length > 0) process.exitCode = 1;
} finally {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}

/** Each request alone, twice: the first pass encodes its passages. */
async function allAlone(
  asker: SoakClient,
  asked: readonly SoakQuestion[],
): Promise<{ texts: string[]; ms: number }> {
  const texts: string[] = [];
  const times: number[] = [];
  for (const question of asked) await asker.ask(question);
  for (const question of asked) {
    const { text, ttftMs } = await asker.ask(question);
    texts.push(text);
    times.push(ttftMs);
  }
  return { texts, ms: median(times) };
}

async function saturationRate(
  asker: SoakClient,
  asked: readonly SoakQuestion[],
  clients: number,
): Promise<number> {
  const end = performance.now() + SATURATION_SECONDS * 1000;
  let answered = 0;
  let next = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const question = asked[next++ % asked.length];
      if (question) await asker.ask(question);
      answered++;
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  return (answered * 1000) / (performance.now() - start);
}

/** Sends requests at random times until the time is over, regardless of pending ones. */
async function openLoop(
  asker: SoakClient,
  asked: readonly SoakQuestion[],
  texts: readonly string[],
  rate: number,
): Promise<Sample[]> {
  const random = randomFrom(17);
  const start = performance.now();
  const samples: Sample[] = [];
  const running = new Set<Promise<void>>();
  for (let time = 0; time < seconds; time += exponential(1 / rate, random)) {
    await sleep(Math.max(0, start + time * 1000 - performance.now()));
    const index = Math.floor(random() * asked.length);
    const question = asked[index];
    if (!question) continue;
    const one = asker
      .ask(question)
      .then(
        ({ text, ttftMs, totalMs }: Answer) => ({ ttftMs, totalMs, same: text === texts[index] }),
        (error: unknown) => ({ error: String(error) }),
      )
      .then((outcome) => void samples.push({ time, rssMiB: server.rssMiB(), ...outcome }));
    running.add(one);
    void one.finally(() => running.delete(one));
  }
  await Promise.all(running);
  return samples;
}
