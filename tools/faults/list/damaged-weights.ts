import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { settled, until } from '../baseline.ts';
import { copyDemo, useCopy } from '../own-model.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

const DAMAGED_BYTES = 4096;

/** A model with an intact header and damaged weights, later replaced by the intact file. */
export const damagedWeights: Fault = {
  name: 'damaged weights',
  covers: 'KV from a model file with damaged weights: none is left after the intact file replaced it',
  async run({ data, random }) {
    const path = join(data, 'mine.gguf');
    const sound = chunksOf(data);
    const first = await RunningApp.start(data);
    const id = await useCopy(first, path);
    await first.stop();
    rmSync(join(data, 'cache'), { recursive: true }); // so that every chunk is computed with the damaged file
    // Weights fill the file's second half. Damage at a tensor's end changes the fingerprint, which is the easier case.
    const bytes = readFileSync(path);
    const at = bytes.length / 2 + random(bytes.length / 2 - DAMAGED_BYTES);
    bytes.fill(0, at, at + DAMAGED_BYTES);
    writeFileSync(path, bytes);
    await computeWith(data, id, path);
    copyDemo(`${path}.new`);
    renameSync(`${path}.new`, path);
    await computeWith(data, id, path);
    const now = chunksOf(data);
    for (const [name, sum] of sound)
      if (now.get(name) !== sum)
        throw new Error(`${name} is ${now.has(name) ? 'from the damaged file' : 'missing'}`);
  },
};

/** Starts Kvasir on the current files and waits until the model is hashed and every chunk computed. */
async function computeWith(data: string, id: string, path: string): Promise<void> {
  const app = await RunningApp.start(data);
  await app.call('models.activate', { id });
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  await until(() => Promise.resolve(knownWeights(data).includes(sha256) ? true : undefined));
  await settled(app);
  await app.stop();
}

function knownWeights(data: string): unknown[] {
  const database = new Database(join(data, 'models.sqlite'), { readonly: true });
  try {
    return database.prepare('SELECT sha256 FROM weights').pluck().all();
  } finally {
    database.close();
  }
}

/** SHA-256 of every chunk file: equal chunks have equal KV. */
function chunksOf(data: string): Map<string, string> {
  const dir = join(data, 'cache', 'chunks');
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.kvc'),
  );
  return new Map(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex'),
    ]),
  );
}
