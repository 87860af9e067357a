import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { settled, until } from '../../tools/faults/baseline.ts';
import type { RunningApp } from '../../tools/faults/running-app.ts';
import { randomModel } from '../../tools/random-model/random-model.ts';
import { writeLibrary } from '../steady/library.ts';
import type { Action } from './schedule.ts';

/** Two tiny models: their time is negligible, so that thousands of questions take minutes. */
const SHAPE = { arch: 'llama', embd: 64, heads: 4, 'kv-heads': 2, 'head-dim': 16, ff: 128, vocab: 512 };
const LAYERS = [2, 3];
const LIBRARY = { documents: 40, characters: 1500, seed: 1 };
/** Less than the KV of the library for one model, so that both caches are at their budgets from the start. */
const SETTINGS = {
  ...{ welcomed: true, chunkTokens: 128, maxTokens: 16 },
  ...{ diskBudgetBytes: 8 * 2 ** 20, memoryBudgetBytes: 2 * 2 ** 20 },
};
const TURNS = 8;
const SLEEP_MS = 2000;

/** What a person does with Kvasir in years. Each method resolves when its effects are complete. */
export class Life implements Record<Action, () => Promise<void>> {
  readonly #app: RunningApp;
  readonly #folder: string;
  readonly #libraryId: string;
  readonly #models: string[];
  readonly #random: () => number;
  #conversationId = '';
  #count = 0;

  private constructor(
    app: RunningApp,
    { folder, libraryId, models }: { folder: string; libraryId: string; models: string[] },
    random: () => number,
  ) {
    this.#app = app;
    this.#folder = folder;
    this.#libraryId = libraryId;
    this.#models = models;
    this.#random = random;
  }

  /** A library of files in `folder`, and two models, the first in use. */
  static async begin(app: RunningApp, folder: string, random: () => number): Promise<Life> {
    await app.call('settings.update', SETTINGS);
    for (const { id } of await app.call('libraries.list', {})) await app.call('libraries.delete', { id });
    const models: string[] = [];
    for (const layers of LAYERS) {
      const path = randomModel({ ...SHAPE, layers, context: 4096 });
      models.push((await app.call('models.import', { path })).id);
    }
    await app.call('models.activate', { id: models[0] ?? '' });
    writeLibrary(folder, LIBRARY);
    const { id } = await app.call('libraries.create', { name: 'Life' });
    await app.call('libraries.addPaths', { id, paths: [folder] });
    await app.call('libraries.rescan', { id }); // all files are in the list then
    await settled(app);
    return new Life(app, { folder, libraryId: id, models }, random);
  }

  async question(): Promise<void> {
    if (this.#count++ % TURNS === 0) this.#conversationId = (await this.#app.call('chat.create', {})).id;
    const conversationId = this.#conversationId;
    const text = `What does Subject${this.#document().replace('.md', '')} say, number ${this.#count}?`;
    const { answerId } = await this.#app.call('chat.send', { conversationId, text });
    const { state, failure } = await until(async () => {
      const { messages } = await this.#app.call('chat.get', { id: conversationId });
      return messages.find(
        ({ id, state: now }) => id === answerId && ['done', 'failed', 'stopped'].includes(now),
      );
    }, 5);
    if (state !== 'done') throw new Error(`an answer is ${state}: ${failure?.message}`);
  }

  /** Replaces a line of a file in the watched folder. */
  async edit(): Promise<void> {
    const path = join(this.#folder, this.#document());
    const lines = readFileSync(path, 'utf8').split('\n');
    lines[2 + Math.floor(this.#random() * (lines.length - 2))] = `Edit ${++this.#count} of this file.`;
    writeFileSync(path, lines.join('\n'));
    await this.#app.call('libraries.rescan', { id: this.#libraryId });
    await settled(this.#app);
  }

  async switch(): Promise<void> {
    this.#models.reverse();
    await this.#app.call('models.activate', { id: this.#models[0] ?? '' });
    await settled(this.#app);
  }

  async deletion(): Promise<void> {
    const { id } = await this.#app.call('libraries.create', { name: `Library ${++this.#count}` });
    await this.#app.upload(id, 'note.md', `# Note ${this.#count}\n\nIt is to be deleted.`);
    await settled(this.#app);
    await this.#app.call('libraries.delete', { id });
  }

  /** As a laptop's: the process does not run, and all its timers are due when it does again. */
  async sleep(): Promise<void> {
    process.kill(this.#app.pid, 'SIGSTOP');
    await sleep(SLEEP_MS);
    process.kill(this.#app.pid, 'SIGCONT');
    await this.#app.call('queue.status', {});
  }

  #document(): string {
    const names = readdirSync(this.#folder);
    return names[Math.floor(this.#random() * names.length)] ?? '';
  }
}
