import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { until } from '../baseline.ts';
import { modelOf, useCopy } from '../own-model.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** Killed during a model's load or first pass, as by a file that crashes the engine. */
export const killedLoading: Fault = {
  name: 'killed loading a model',
  covers: 'a model that crashes the process on load or first pass: the next start skips it and says so',
  async run({ data, random }) {
    const first = await RunningApp.start(data);
    const id = await useCopy(first, join(data, 'mine.gguf'));
    await first.stop();
    do {
      const app = await RunningApp.start(data);
      await sleep(random(40));
      await app.kill();
    } while (!wasLoading(data, id) && random(8) > 0);
    const leftOut = wasLoading(data, id);
    const again = await RunningApp.start(data);
    const model = await until(async () => {
      const { state, active, failure } = await modelOf(again, id);
      return state === 'loading' || state === 'idle' ? undefined : { active, failure };
    });
    if (model.active === leftOut) throw new Error(leftOut ? 'it was loaded again' : 'it was skipped');
    if (leftOut && !model.failure?.message.includes('ended while')) throw new Error('no reason is given');
  },
};

function wasLoading(data: string, id: string): boolean {
  const database = new Database(join(data, 'models.sqlite'));
  try {
    return database.prepare('SELECT loading FROM model WHERE id = ?').pluck().get(id) === 1;
  } finally {
    database.close();
  }
}
