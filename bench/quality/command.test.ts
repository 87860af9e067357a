/** Runs bench:quality from its command line to its result file, on small files in the published formats. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Row } from './rows.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-quality-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Result {
  questions: number;
  rows: Row[];
  runs: Record<string, Row[]>;
}

const BENCH = join(import.meta.dirname, '..', 'quality.ts');

function bench(...flags: string[]): Result {
  const out = join(dir, 'result.json');
  execFileSync(process.execPath, [BENCH, ...flags, '--out', out], { stdio: 'pipe' });
  return JSON.parse(readFileSync(out, 'utf8')) as Result;
}

function write(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const TEXTS = [
  'Elsa Wexler looks after the customers of Halvard. She was born in Krakow. She cooks noodles for the summer party.',
  'Project Polaris began in the spring of 2009. It runs in Riga, and its head is Elsa Wexler.',
];
const ASKED = [
  { question: 'Where was Elsa Wexler born?', answers: ['Krakow', 'in Krakow'] },
  { question: 'Where does Project Polaris run?', answers: ['Riga'] },
];

/** The same questions in each format. */
const FORMS: Record<string, () => string[]> = {
  'inputs/musique_s.json of CacheBlend': () => {
    const ctxs = TEXTS.map((text, i) => ({ title: `Page ${i}`, text }));
    return ['--set', write('musique_s.json', JSON.stringify(ASKED.map((asked) => ({ ctxs, ...asked }))))];
  },
  'JSON lines of LongBench, with its prompts': () => {
    const context = TEXTS.map((text, i) => `Passage ${i + 1}:\n${text}`).join('\n\n');
    const lines = ASKED.map(({ question, answers }) =>
      JSON.stringify({ input: question, context, answers, dataset: '2wikimqa', length: 60, language: 'en' }),
    );
    const prompts = { '2wikimqa': 'Read this.\n{context}\n\nQuestion: {input}' };
    const set = ['--set', write('2wikimqa.jsonl', `${lines.join('\n')}\n`)];
    return [...set, '--prompts', write('dataset2prompt.json', JSON.stringify(prompts))];
  },
  'JSON lines of RULER': () => {
    const documents = TEXTS.map((text, i) => `Document ${i + 1}:\n${text}`).join('\n\n');
    const lines = ASKED.map(({ question, answers }, index) =>
      JSON.stringify({ index, input: `Read.\n\n${documents}\n\nQuestion: ${question}`, outputs: answers }),
    );
    return ['--set', write('qa_2.jsonl', lines.join('\n'))];
  },
};

test.each(Object.entries(FORMS))('%s', (_, flags) => {
  const { questions, rows } = bench(...flags());
  expect(questions).toBe(2);
  const [full, ...others] = rows;
  expect(full).toMatchObject({
    method: 'full',
    computed: 1,
    loss: { mean: 0 },
    kl: { mean: 0 },
    agrees: { mean: 1 },
  });
  for (const { computed, kl, agrees, ofFull, scores } of others) {
    expect(computed).toBeGreaterThanOrEqual(0);
    expect(computed).toBeLessThanOrEqual(1);
    expect(kl.mean).toBeGreaterThanOrEqual(0);
    expect(agrees.mean).toBeLessThanOrEqual(1);
    expect(ofFull).toBeGreaterThan(0);
    for (const { mean, low, high } of Object.values(scores)) {
      expect(low).toBeLessThanOrEqual(mean);
      expect(high).toBeGreaterThanOrEqual(mean);
    }
  }
  expect(others.map(({ method }) => method)).toContain('MapRerank');
});

/** Excluded because a calibration depends on times. */
const WITHOUT_AUTO = '^(?!auto)';

test('two runs are identical except for times', () => {
  const flags = ['--n', '2', '--passages', '3', '--order', 'shuffled', '--only', WITHOUT_AUTO];
  const untimed = ({ rows }: Result): Row[] => rows.map((row) => ({ ...row, medianMs: 0, ofFull: 0 }));
  expect(untimed(bench(...flags))).toEqual(untimed(bench(...flags)));
});

test('the matrix draws charts', () => {
  const flags = ['--n', '1', '--matrix', '--runs', 'passages 3|passages 6', '--only', '^full'];
  expect(Object.keys(bench(...flags).runs)).toEqual(['passages 3', 'passages 6']);
  expect(existsSync(join(dir, 'result-passages.svg'))).toBe(true);
});

test('resumes where it was stopped', async () => {
  const flags = ['--n', '3', '--passages', '3', '--only', '^(full|blind)'];
  const whole = bench(...flags);
  const out = join(dir, 'result.json');
  expect(existsSync(`${out}.tmp`)).toBe(false);

  const child = spawn(process.execPath, [BENCH, ...flags, '--out', out], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await vi.waitFor(() => expect(readFileSync(`${out}.tmp`, 'utf8')).toContain('"index":0'), {
    timeout: 30_000,
  });
  child.kill('SIGKILL');
  await ended;

  const said = execFileSync(process.execPath, [BENCH, ...flags, '--resume', '--out', out], {
    encoding: 'utf8',
  });
  expect(said).toMatch(/Resuming after [12] of 3 questions/);
  const { rows } = JSON.parse(readFileSync(out, 'utf8')) as Result;
  expect(rows.map(({ kl }) => kl)).toEqual(whole.rows.map(({ kl }) => kl));
});

test('parts from several processes combine into one table', () => {
  const flags = ['--n', '3', '--passages', '3', '--only', '^(full|blind)'];
  const whole = bench(...flags);
  const parts = [1, 2].map((part) => {
    const out = join(dir, `part-${part}.json`);
    execFileSync(process.execPath, [BENCH, ...flags, '--part', `${part}/2`, '--out', out], {
      stdio: 'ignore',
    });
    expect(existsSync(out)).toBe(false);
    return readFileSync(`${out}.tmp`, 'utf8');
  });
  const out = join(dir, 'joined.json');
  writeFileSync(`${out}.tmp`, parts.join(''));
  const said = execFileSync(process.execPath, [BENCH, ...flags, '--resume', '--out', out], {
    encoding: 'utf8',
  });
  expect(said).toContain('Resuming after 3 of 3 questions');
  const { rows } = JSON.parse(readFileSync(out, 'utf8')) as Result;
  expect(rows.map(({ kl }) => kl)).toEqual(whole.rows.map(({ kl }) => kl));
});
