/** `analyse` and `ask --questions` with the demo model, through the command line. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AnalysisSchema, type Analysis } from '../src-shared/contract/analysis.ts';
import { chunkFiles, DEMO_MODEL, expectFailure, removeDir, tempDir, writeFiles } from './cli-support.ts';
import { runHere } from './support/in-process.ts';

let dir: string;

beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

/** A document with this many short chapters. */
function chapters(count: number): string {
  const towns = ['Oslo', 'Porto', 'Riga', 'Turin', 'Lyon'];
  return Array.from(
    { length: count },
    (_, i) =>
      `## Chapter ${i + 1}\n\nThe ship number ${i + 1} was built in ${towns[i % towns.length]} by its owner.\n`,
  ).join('\n');
}

function parse({ code, stdout, stderr }: Awaited<ReturnType<typeof runHere>>): Analysis {
  expect(code, stderr).toBe(0);
  return AnalysisSchema.parse(JSON.parse(stdout));
}

describe.skipIf(!existsSync(DEMO_MODEL))('analyses', () => {
  test('a document is found by its name, however the disk spells its accents', async () => {
    const library = writeFiles(join(dir, 'accents'), { ['Größe.md'.normalize('NFD')]: chapters(2) });
    const name = 'Größe.md'.normalize('NFC');
    const args = ['analyse', name, 'Where was the ship built?', '--library', library, '--max-tokens', '4'];
    expect(parse(await runHere([...args, '--data', join(dir, 'accents-data'), '--json'])).state).toBe('done');
  });

  test('a long document is read in windows whose overlaps are read from the store', async () => {
    const library = writeFiles(join(dir, 'ships'), { 'ships.md': `# Ships\n\n${chapters(60)}` });
    const data = join(dir, 'data');
    const args = [
      'analyse',
      join(library, 'ships.md'),
      'Where was the ship built?',
      '--data',
      data,
      '--json',
    ];
    const shape = ['--chunk-tokens', '64', '--window', '5', '--overlap', '2', '--strategy', 'deviation'];
    const first = parse(await runHere([...args, ...shape]));
    expect(first.state).toBe('done');
    const windows = first.steps.filter(({ kind }) => kind === 'window');
    expect(windows.length).toBeGreaterThan(3);
    let stored = 0;
    for (const [i, { from, to, stats, sources, encoded }] of windows.entries()) {
      expect(from).toBe(i * 3);
      expect(sources.map(({ ordinal }) => ordinal)).toEqual(
        Array.from({ length: to - from }, (_, n) => from + n),
      );
      // An analysis stores every chunk before a window uses it, so no prompt computes any.
      expect(stats?.chunkHits.computed).toBe(0);
      stored += encoded?.chunks ?? 0;
    }
    expect(first.steps.at(-1)?.kind).toBe('combine');
    const chunks = windows.at(-1)?.to ?? 0;
    expect(stored).toBe(chunks); // each once, although windows overlap
    expect(first.sharing.chunks).toBe(chunks);
    expect(chunkFiles(data).size).toBeGreaterThanOrEqual(chunks);

    const second = parse(await runHere([...args, ...shape]));
    expect(second.steps.map(({ text }) => text)).toEqual(first.steps.map(({ text }) => text));
    expect(second.steps.every(({ encoded }) => encoded === null)).toBe(true);
  });

  test('questions of a file are answered as if asked separately, and shared chunks are read once', async () => {
    const data = ['--data', join(dir, 'ask')];
    const questions = ['Where does Project Polaris run?', 'Where was Elsa Wexler born?'];
    const file = join(
      writeFiles(join(dir, 'lists'), { 'q.txt': `${[...questions, questions[0]].join('\n')}\n` }),
      'q.txt',
    );
    const strategy = ['--strategy', 'deviation'];
    const many = parse(await runHere(['ask', '--questions', file, ...data, ...strategy, '--json']));
    expect(many.steps.map(({ question }) => question)).toEqual([...questions, questions[0]]);
    expect(many.steps.every(({ state }) => state === 'done')).toBe(true);
    const [first, , again] = many.steps;
    // The prompt is the same, so all of its chunks keep their positions.
    expect(again?.text).toBe(first?.text);
    expect(again?.stats?.chunkHits).toMatchObject({ resident: again?.sources.length, disk: 0, computed: 0 });
    expect(many.sharing.residentUses).toBe(again?.sources.length);
    expect(many.sharing.bytesSaved).toBeGreaterThan(0);

    const one = await runHere(['ask', questions[1] ?? '', ...data, ...strategy, '--json']);
    expect((JSON.parse(one.stdout) as { answer: string }).answer).toBe(many.steps[1]?.text);
  });

  test.each([
    [['ask'], 'BAD_ARGUMENT', 2],
    [['ask', '--questions', '/nowhere.txt'], 'BAD_ARGUMENT', 2],
    [['analyze', 'nothing.md', 'Summarise.'], 'NOT_FOUND', 1],
    [['analyse', 'teams/team-ocelot.md', 'Summarise.', '--strategy', 'magic'], 'BAD_ARGUMENT', 2],
  ])('%j is refused', async (args, code, exitCode) => {
    expectFailure(await runHere([...args, '--data', join(dir, 'ask')]), code, exitCode);
  });
});
