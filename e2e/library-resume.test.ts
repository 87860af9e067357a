/** The queue under kill -9, with the real engine, store and parser process. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chunkFiles, removeDir, ROOT, tempDir, writeFiles } from './cli-support.ts';
import { readyData } from './support/ready-data.ts';

interface Line {
  waiting: number;
  active: number;
  tokensDone: number;
  failed: number;
  library: { documents: number; chunks: number; cachedChunks: number; pending: number };
}

let dir: string;
beforeAll(async () => {
  dir = tempDir();
  await readyData(join(dir, 'data')); // no other library is to be computed
});
afterAll(() => removeDir(dir));

/** Runs the background work until `stop` returns true (then kills it without warning) or to its end; returns the last line. */
async function work(stop: (line: Line) => boolean): Promise<Line> {
  const child = spawn(
    process.execPath,
    [join(ROOT, 'e2e', 'support', 'library-child.ts'), join(dir, 'data'), join(dir, 'docs')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise((resolve) => child.once('close', resolve));
  let last: Line | undefined;
  for await (const text of createInterface({ input: child.stdout })) {
    last = JSON.parse(text) as Line;
    if (stop(last)) child.kill('SIGKILL');
  }
  await ended;
  if (!last) throw new Error('the program printed nothing');
  return last;
}

test('killed while it reads, chunks and precomputes, it resumes and computes nothing twice', async () => {
  const text = (i: number): string =>
    Array.from({ length: 12 }, (_, k) => `Ship ${i} of line ${k} sails from Oslo to port ${i * k}.`).join(
      '\n\n',
    );
  writeFiles(
    join(dir, 'docs'),
    Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}.md`, `# Ship ${i}\n\n${text(i)}\n`])),
  );
  await work(({ library }) => library.chunks > 0);
  await work(({ library }) => library.cachedChunks > 5);
  await work(({ tokensDone }) => tokensDone > 1500);
  const before = chunkFiles(join(dir, 'data'));
  const last = await work(() => false);
  expect(last.failed).toBe(0);
  expect(last.library).toMatchObject({ documents: 40, pending: 0, cachedChunks: last.library.chunks });
  const after = chunkFiles(join(dir, 'data'));
  for (const [file, hash] of before) expect(after.get(file)).toBe(hash);

  writeFileSync(
    join(dir, 'docs', '7.md'),
    `# Ship 7\n\n${text(7).replace('line 5 sails', 'line 5 no longer sails')}\n`,
  );
  const edited = await work(() => false);
  expect(edited.library).toMatchObject({ pending: 0, cachedChunks: edited.library.chunks });
  expect(chunkFiles(join(dir, 'data')).size - after.size).toBe(1);
});
