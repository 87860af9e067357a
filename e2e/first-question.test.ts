/** A document added while others are being prepared is found immediately, regardless of other work. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import type { Message } from '../src-shared/contract/chat.ts';
import { randomModel } from '../tools/random-model/random-model.ts';
import { removeDir, tempDir, writeFiles } from './cli-support.ts';

/** Random weights, and large enough that computing vectors of 44 documents takes a while. */
const BERT = {
  arch: 'bert',
  layers: 12,
  embd: 256,
  heads: 4,
  'kv-heads': 4,
  'head-dim': 64,
  ff: 1024,
  vocab: 256,
};
const LEASE =
  'Lease. The zebra barn costs 4,250 euros per year. It is let to the zoo from 1 May, and the zoo pays at the end of each year in one sum.\n';
const QUESTION = 'How much does the zebra barn cost per year?';

/** 44 documents of 20 KB on other subjects. */
function documents(): Record<string, string> {
  const sentence = (i: number, k: number): string =>
    `Ship ${i} of line ${k} sails from Oslo to port ${i * k} with ${k + 20} sailors, and its cargo costs ${k} crowns.`;
  const text = (i: number): string =>
    Array.from({ length: 40 }, (_, p) =>
      Array.from({ length: 5 }, (_, k) => sentence(i, p * 5 + k)).join(' '),
    ).join('\n\n');
  return Object.fromEntries(
    Array.from({ length: 44 }, (_, i) => [`ship-${i}.md`, `# Ship ${i}\n\n${text(i)}\n`]),
  );
}

let dir: string;
let app: App;
let libraryId: string;
beforeAll(async () => {
  dir = tempDir();
  writeFiles(join(dir, 'docs'), documents());
  app = await App.open({ dataDir: join(dir, 'data'), overrides: { threads: 1, maxTokens: 12 } });
  const { id } = await app.models.import(randomModel({ ...BERT, context: 512, pooling: 1 }, dir));
  await app.loader.activate(id);
  app.start();
  libraryId = app.libraries.create('Docs').id;
  await app.libraries.addPaths({ id: libraryId, paths: [join(dir, 'docs')], watch: true });
  await app.libraries.rescan(libraryId);
});
afterAll(async () => {
  await app.close();
  removeDir(dir);
});

async function ask(text: string): Promise<Message> {
  const { id } = app.chat.create({ scope: { libraryIds: [], documentIds: [] } });
  const { answerId } = app.chat.send(id, text);
  await app.chat.idle();
  return app.chat.get(id).messages.find((message) => message.id === answerId)!;
}

function phaseOf(name: string): string | undefined {
  const window = { offset: 0, limit: 10, sort: 'path', descending: false, phase: 'all' } as const;
  return app.libraries.documents.list({ libraryId, search: name, ...window }).items[0]?.phase;
}

describe('a lease of 142 bytes among 44 documents', () => {
  test('dropped while their index is being built, answers a question about it', async () => {
    await expect
      .poll(() => app.libraries.queue.status().current?.phase, { timeout: 60_000 })
      .toBe('indexing');
    writeFileSync(join(dir, 'docs', 'lease.md'), LEASE);
    await expect
      .poll(() => ['indexing', 'precomputing', 'ready'].includes(phaseOf('lease') ?? ''), {
        interval: 20,
        timeout: 60_000,
      })
      .toBe(true);
    expect(app.libraries.queue.status().waiting + app.libraries.queue.status().active).toBeGreaterThan(20);
    const { citations, notices } = await ask(QUESTION);
    expect(citations.map(({ path }) => path)).toEqual(['lease.md']);
    expect(notices.filter(({ kind }) => kind === 'still-reading' || kind === 'unprepared')).toEqual([]);
  });

  test('is found right after another chunk size came into use', async () => {
    app.settings.update({ chunkTokens: 96 });
    const { citations } = await ask(QUESTION);
    expect(citations[0]?.path).toBe('lease.md');
  });
});
