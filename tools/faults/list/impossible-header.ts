import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyDemo, modelOf, requireRefused, useCopy } from '../own-model.ts';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

const KEYS = ['llama.attention.layer_norm_rms_epsilon', 'llama.rope.freq_base'];
const VALUES = [-1, NaN, Infinity, -Infinity, 1e30];
/** GGUF stores the value's type between key and value. */
const TYPE_BYTES = 4;

/** A model whose header has a number that no model can have: newly added, or changed while the model was selected. */
export const impossibleHeader: Fault = {
  name: 'impossible header',
  covers: 'an impossible number in a model file: a typed error, and the demo model at the next start',
  async run({ data, random }) {
    const path = join(data, 'mine.gguf');
    const spoil = (): void => {
      const bytes = readFileSync(path);
      const key = KEYS[random(KEYS.length)] ?? '';
      bytes.writeFloatLE(VALUES[random(VALUES.length)] ?? 0, bytes.indexOf(key) + key.length + TYPE_BYTES);
      writeFileSync(path, bytes);
    };
    const app = await RunningApp.start(data);
    if (random(2) === 0) {
      copyDemo(path);
      spoil();
      await requireRefused(app.call('models.import', { path }).then((m) => app.call('models.activate', m)));
      return;
    }
    const id = await useCopy(app, path);
    await app.stop();
    spoil();
    const again = await RunningApp.start(data);
    await requireRefused(again.call('models.activate', { id }));
    const { active, state, failure } = await modelOf(again, id);
    if (active || state !== 'failed' || !failure)
      throw new Error(`the model is ${state} (${failure?.message})`);
  },
};
