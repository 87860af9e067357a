import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

const WILD = [
  { threads: 1024 },
  { threads: 1e9, topK: 0 },
  { threads: 1024, maxTokens: -5, contextTokens: 1 },
  { threads: -1, temperature: 99, chunkTokens: 1 },
];

/** Copied settings with numbers that are out of range on this or any machine. */
export const wildSettings: Fault = {
  name: 'wild settings',
  covers:
    'numbers out of range in the settings, threads above all: it starts with values in range, and says so',
  async run({ data, random }) {
    writeFileSync(join(data, 'settings.json'), JSON.stringify(WILD[random(WILD.length)]));
    const app = await RunningApp.start(data);
    const found = await app.call('app.found', {});
    if (!found.some(({ message }) => message.includes('threads'))) throw new Error('no notice mentions it');
    const { threads } = await app.call('settings.get', {});
    if (threads > availableParallelism()) throw new Error(`${threads} threads are used`);
    await app.call('settings.update', { theme: 'dark' });
    await app.stop();
    writeFileSync(join(data, 'settings.json'), JSON.stringify({ threads: 1024 }));
  },
};
