/** The demonstration and `ask` on the sample library with the demo model, through the real program. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { App } from '../src-main/app.ts';
import { AnswerSchema, type Answer } from '../src-shared/answer.ts';
import { ComparisonSchema } from '../src-shared/comparison.ts';
import { CalibrationSchema } from '../src-shared/contract/calibration.ts';
import {
  chunkFiles,
  DEMO_MODEL,
  DOCUMENTS,
  makeModel,
  QUESTION,
  removeDir,
  runCli,
  startCli,
  tempDir,
  waitForOutput,
  writeFiles,
  type CliResult,
} from './cli-support.ts';
import { FULL } from './support/full.ts';
import { runHere } from './support/in-process.ts';
import { readLibrary } from './support/library.ts';
import { readyData } from './support/ready-data.ts';

let dir: string;

beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

type AskOutput = Answer & {
  library: { chunks: number; chunkTokens: number; precomputed: { computed: number; stored: number } | null };
};

function parse({ code, stdout, stderr }: CliResult): AskOutput {
  expect(code, stderr).toBe(0);
  const json = JSON.parse(stdout) as AskOutput;
  AnswerSchema.parse(json);
  return json;
}

describe.skipIf(!existsSync(DEMO_MODEL))('the demonstration', () => {
  let first: CliResult;
  /** In the short form, until it has said what it computes. */
  let second: CliResult;

  beforeAll(async () => {
    const data = ['--data', await readyData(join(dir, 'demo'))];
    expect((await runHere(['cache', 'evict', '--bytes', '4MB', ...data])).code).toBe(0);
    first = await runCli(['demo', ...data]);
    const again = startCli(['demo', ...data]);
    if (!FULL) {
      await waitForOutput(again, /^Precompute /m);
      again.child.kill('SIGINT');
    }
    second = await again.finished;
  });

  test('first run: precomputes, and shows both methods side by side', () => {
    expect(first.code, first.stderr).toBe(0);
    expect(first.stdout).toMatch(/the KV of \d+ chunks \(\d+ tokens\) computed once and stored/);
    expect(first.stdout).toMatch(/TTFT +│ +TTFT/);
    expect(first.stdout.match(/\d+ of \d+ +│ +[\d.]+ [kM]?B/g)).toHaveLength(16);
    expect(first.stdout).toMatch(/by full prefill and .+ by blending \(\d+\.\d\d ×\)/);
    expect(first.stdout).toContain('npm start -- ask');
  });

  test('second run: precomputes nothing and says so', () => {
    expect(second.code, second.stderr).toBe(FULL ? 0 : 130);
    expect(second.stdout).toMatch(/nothing to do: the KV of all \d+ chunks is stored from an earlier run/);
    expect(second.stderr).not.toContain('precomputing');
  });

  test.runIf(FULL)('both runs give the same answers by full prefill', () => {
    // Blended answers are not compared: the controller's strategy changes as it learns.
    const answers = ({ stdout }: CliResult): string[] =>
      stdout.split('\n').flatMap((line) => {
        const cells = line.split('│').map((cell) => cell.trim());
        return cells.length > 4 ? [cells.slice(1, 3).join('|')] : [];
      });
    expect(answers(second)).toEqual(answers(first));
  });

  test('no colours and no progress output without a terminal', () => {
    // eslint-disable-next-line no-control-regex -- the escape character is the subject of the test
    expect(first.stdout + first.stderr + second.stdout).not.toMatch(/\x1b/);
    expect(first.stdout + first.stderr).not.toMatch(/ggml|llama_|load_backend/);
    expect(second.stderr).toBe(FULL ? '' : 'Interrupted.\n');
  });

  test('all sample questions find the documents with their answers, and multi-hop questions the passage with the fact', async () => {
    const app = await App.open({ dataDir: join(dir, 'demo') });
    try {
      const { ask } = await readLibrary(app);
      const questions = JSON.parse(readFileSync(app.paths.sampleQuestions, 'utf8')) as {
        question: string;
        documents: string[];
        kind: string;
        key: string;
      }[];
      const lacking: string[] = [];
      for (const { question, documents, kind, key } of questions) {
        const { sources } = await ask({ question, strategy: { name: 'none' }, maxTokens: 1 });
        const found = sources.map(({ document }) => document);
        const told = sources.some(({ document, text }) => documents.includes(document) && text.includes(key));
        if (!documents.every((document) => found.includes(document))) lacking.push(question);
        if (kind.includes('hop') && !told) lacking.push(`${question} (${key})`);
      }
      expect(lacking).toEqual([]);
    } finally {
      await app.close();
    }
  });
});

describe('ask', () => {
  let base: string[];

  beforeAll(async () => {
    const library = writeFiles(join(dir, 'library'), DOCUMENTS);
    const model = makeModel(join(dir, 'model.gguf'));
    base = [
      'ask',
      '--data',
      join(dir, 'ask'),
      '--library',
      library,
      '--model',
      model,
      '--chunk-tokens',
      '64',
      '--max-tokens',
      '12',
      '--threads',
      '1',
    ];
    mkdirSync(join(dir, 'ask'));
    writeFileSync(join(dir, 'ask', 'settings.json'), JSON.stringify({ logAnswers: true }));
    parse(await runHere([...base, '--json', QUESTION]));
  });

  test('with logAnswers the log tells how an answer was made, not what it says', () => {
    const log = readFileSync(join(dir, 'ask', 'kvasir.log'), 'utf8');
    expect(log).toMatch(/"level":"debug","event":"answer",.*"computedTokens":\d+/);
    expect(log).not.toContain(QUESTION);
  });

  test('compare shows each way in a table, and the same as JSON', async () => {
    const compare = ['compare', ...base.slice(1), '--strategies', 'deviation:0.2', QUESTION];
    const shown = await runHere([...compare, '--deep']);
    expect(shown.code, shown.stderr).toBe(0);
    const { methods } = ComparisonSchema.parse(JSON.parse((await runHere([...compare, '--json'])).stdout));
    expect(methods.map(({ strategy }) => strategy)).toContainEqual({ name: 'deviation', ratio: 0.2 });
    const rows = shown.stdout.split('\n').filter((line) => /^│.*\d ms/.test(line));
    expect(rows).toHaveLength(methods.length);
    // Beneath: the three layers of this model, then the ratios.
    const tables = shown.stdout.split('│ layer ')[1]?.split('│ ratio ') ?? [];
    expect(tables[0]?.match(/^│ +\d+ +│/gm)).toHaveLength(3);
    expect(tables[1]?.match(/^│ +\d+ % +│/gm)?.length).toBeGreaterThan(3);
  });

  test('calibrate shows each way and its verdict, and the same as JSON', async () => {
    const [data, library, model] = ['--data', '--library', '--model'].map(
      (flag) => base[base.indexOf(flag) + 1],
    );
    const calibrate = ['calibrate', '--data', `${data}`, '--library', `${library}`, '--model', `${model}`];
    calibrate.push('--chunk-tokens', '64', '--threads', '1', '--questions', '2');
    calibrate.push('--strategies', 'none,deviation', '--ratios', '0.5');
    const shown = await runHere(calibrate);
    expect(shown.code, shown.stderr).toBe(0);
    const { stdout } = await runHere([...calibrate, '--json']);
    const { points, prompts, texts } = CalibrationSchema.parse(JSON.parse(stdout));
    expect({ prompts, texts }).toEqual({ prompts: 2, texts: { library: 'library', kind: 'topics' } });
    const rows = shown.stdout.split('\n').filter((line) => /^│ (none|deviation).* ×/.test(line));
    expect(rows).toHaveLength(points.length);
    expect(shown.stdout).toMatch(/with f16 chunks, .*; library library: 2 questions about what/);
    expect(shown.stdout).toMatch(/^(The default for such text|Blending (keeps|is unsuitable))/m);
    expect(shown.stdout).toMatch(/^q4 chunks against f16: KL /m);
  });

  const askJson = async (...flags: string[]): Promise<AskOutput> =>
    parse(await runHere([...base, '--json', ...flags, QUESTION]));
  /** With a fixed strategy, independent of the controller's choice on this machine. */
  const blendJson = (...flags: string[]): Promise<AskOutput> => askJson('--strategy', 'deviation', ...flags);

  test('--dry-run says what computing takes, and computes nothing; computing says the same; KVASIR_LOG=debug fills the log', async () => {
    vi.stubEnv('KVASIR_LOG', 'debug'); // as logAnswers
    onTestFinished(() => void vi.unstubAllEnvs());
    const data = tempDir();
    const flags = [...base, '--data', data];
    const dry = await runHere([...flags, '--dry-run']);
    expect(dry.code, dry.stderr).toBe(0);
    const sentence =
      /^To compute: ([\d,]+) tokens, \S+ \S?B of KV as f16 \(.+ as q8_0, .+ as q4\), .+; the disk budget holds 100 % of it\.$/m;
    const tokens = sentence.exec(dry.stdout)?.[1];
    expect(tokens, dry.stdout).toBeDefined();
    expect(chunkFiles(data).size).toBe(0);
    const { tokens: planned } = JSON.parse((await runHere([...flags, '--dry-run', '--json'])).stdout) as {
      tokens: number;
    };
    expect(planned.toLocaleString('en')).toBe(tokens);
    const computed = await runHere([...flags, QUESTION]);
    expect(readFileSync(join(data, 'kvasir.log'), 'utf8')).toContain('"level":"debug","event":"answer"');
    expect(sentence.exec(computed.stderr)?.[1]).toBe(tokens);
    expect(chunkFiles(data).size).toBeGreaterThan(0);
    expect((await runHere([...flags, '--dry-run'])).stdout).toContain('nothing is left to compute');
  });

  test('an answer at its limit is reported as cut off', async () => {
    const [{ stop }, { stderr }] = [await blendJson(), await runHere([...base, QUESTION])];
    expect(stop).toBe('length');
    expect(stderr).toContain('Cut off: the answer reached its limit. --max-tokens allows a longer one.');
  });

  test('without a match the documents are read whole', async () => {
    const { code, stderr } = await runHere([...base, 'xylophone?']);
    expect(code).toBe(0);
    expect(stderr).toContain('its whole document is in the prompt');
  });

  test('the prompt restricts the model to the passages, unless --no-strict is given', async () => {
    const { prompt } = await askJson('--no-strict');
    expect((await askJson()).prompt.promptTokens).toBeGreaterThan(prompt.promptTokens);
  });

  test('streams the answer to stdout, sources and times to stderr', async () => {
    const { code, stdout, stderr } = await runHere([...base, '--strategy', 'deviation', QUESTION]);
    expect(code).toBe(0);
    expect(stdout.trim()).toBe((await blendJson()).answer);
    expect(stderr).toMatch(/Sources:\n {2}\[1\] mara\.md, part 1 \(score /);
    expect(stderr).toMatch(/First token after .+\(retrieve .*recompute .*\); then \d+ tokens\/s/);
    expect(stderr).toMatch(
      /with a full prefill: about .+, of which .+ for the same search, prompt and waiting\./,
    );
    expect(stderr).toMatch(/Prompt of \d+ tokens: \d+ from cache, \d+ of them recomputed; .+ loaded/);
  });

  test('--json has sources, times that add up, and the reused chunks', async () => {
    const json = await blendJson();
    expect(json.sources.every(({ tier }) => tier === 'disk')).toBe(true);
    expect(json.sources.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(json.prompt.reusedTokens);
    const { total, ...parts } = json.ttftMs;
    expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 0);
    expect(json.prompt.bytesLoaded).toBeGreaterThan(0);
    expect(json.library).toMatchObject({ chunkTokens: 64, precomputed: { computed: 0 } });
    expect(json.strategy).toEqual({ kind: 'deviation', checkLayers: [1], ratios: [0.15] });
  });

  test('without flags the controller decides, with its reason and prediction', async () => {
    await askJson();
    const { plan } = await askJson();
    expect(plan).toMatchObject({ wish: 'auto', outcomeMs: expect.any(Number) as number });
    expect(plan?.predictedTtftMs?.total).toBeGreaterThan(0);
    expect(plan?.predictedFullPrefillMs).toBeGreaterThan(0);
    const { stderr } = await runHere([...base, QUESTION]);
    expect(stderr).toMatch(
      /(Blended by .+|Computed in full) \(.+\)\. From look-up to the last layer: expected .+, took .+\./,
    );
  });

  test('strategies recompute the tokens that they report', async () => {
    const none = await askJson('--strategy', 'none');
    const some = await askJson('--ratio', '0.25');
    const gradual = await askJson('--ratio', '0.5,0.2', '--check-layers', '0,1');
    const full = await askJson('--strategy', 'full');
    expect(none.prompt.recomputedTokens).toBe(0);
    expect(some.prompt.recomputedTokens / some.prompt.reusedTokens).toBeCloseTo(0.25, 1);
    expect(gradual.prompt.recomputedTokens / gradual.prompt.reusedTokens).toBeCloseTo(0.2, 1);
    expect(full.prompt.bytesLoaded).toBe(0);
    expect(full.sources.every(({ tier }) => tier === 'computed')).toBe(true);
    expect(new Set([none, some, gradual, full].map(({ prompt }) => prompt.promptTokens)).size).toBe(1);
  });

  test('--ratio 1 answers as --strategy full does', async () => {
    const all = await askJson('--ratio', '1');
    expect(all.answer).toBe((await askJson('--strategy', 'full')).answer);
    expect(all.prompt.recomputedTokens).toBe(all.prompt.reusedTokens);
  });

  test('q8_0 is stored alongside f16, in about half the bytes', async () => {
    const f16 = (await blendJson()).prompt.bytesLoaded;
    const q8 = await blendJson('--dtype', 'q8_0');
    expect(q8.library.precomputed?.computed).toBeGreaterThan(0);
    expect(q8.prompt.bytesLoaded / f16).toBeCloseTo(34 / 64, 1);
  });

  test("--no-precompute computes and stores only the answer's chunks", async () => {
    const fresh = ['--data', join(dir, 'lazy'), '--no-precompute'];
    const first = await blendJson(...fresh);
    expect(first.library.precomputed).toBeNull();
    expect(first.sources.every(({ tier }) => tier === 'computed')).toBe(true);
    const second = await blendJson(...fresh);
    expect(second.sources.every(({ tier }) => tier === 'disk')).toBe(true);
  });

  test('an edited document is computed again, the others are not', async () => {
    const library = writeFiles(join(dir, 'edited'), DOCUMENTS);
    const flags = ['--library', library, '--data', join(dir, 'edited-data')];
    const before = await askJson(...flags);
    writeFiles(library, { 'jon.txt': 'Jon Berg now sells coffee in Lisbon.' });
    const after = await askJson(...flags);
    expect(after.library.precomputed).toMatchObject({ computed: 1 });
    expect(after.library.precomputed?.stored).toBe(after.library.chunks - 1);
    expect(before.library.precomputed?.computed).toBe(before.library.chunks);
  });

  test('cache ls, verify and evict', async () => {
    const data = ['--data', join(dir, 'ask')];
    const listed = JSON.parse((await runHere(['cache', 'ls', '--json', ...data])).stdout) as {
      entries: unknown[];
    };
    expect(listed.entries).toHaveLength(chunkFiles(join(dir, 'ask')).size);
    expect((await runHere(['cache', 'ls', ...data])).stdout).toContain('mara.md');
    expect((await runHere(['cache', 'verify', ...data])).code).toBe(0);
    expect((await runHere(['cache', 'evict', '--bytes', '1', ...data])).stdout).toMatch(/^Removed 1 chunks/);
    expect((await runHere(['cache', 'evict', '--all', ...data])).code).toBe(0);
    expect(chunkFiles(join(dir, 'ask')).size).toBe(0);
  });

  test('model info', async () => {
    const info = JSON.parse((await runHere(['model', 'info', '--json', join(dir, 'model.gguf')])).stdout) as {
      architecture: string;
    };
    expect(info.architecture).toBe('llama');
  });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s during precompute ends cleanly, and the next run resumes',
  async (signal) => {
    const text = 'The quick brown fox jumps over the lazy dog and runs into the deep dark wood. '.repeat(12);
    const files = Array.from({ length: 7 }, (_, i) => [`${i}.txt`, `Document ${i}. ${text}`]);
    const library = writeFiles(
      join(dir, `many-${signal}`),
      Object.fromEntries(files) as Record<string, string>,
    );
    const model = makeModel(join(dir, 'slow.gguf'), {
      layers: 8,
      embd: 256,
      heads: 4,
      'head-dim': 64,
      ff: 1024,
    });
    const data = join(dir, `interrupted-${signal}`);
    const args = [
      'ask',
      '--data',
      data,
      '--library',
      library,
      '--model',
      model,
      '--chunk-tokens',
      '512',
      '--max-tokens',
      '2',
      '--json',
      '--no-strict', // a system prompt would be stored as well
      '--threads',
      '1',
      'fox?',
    ];
    const running = startCli(args);
    await vi.waitUntil(() => existsSync(join(data, 'cache', 'chunks')) && chunkFiles(data).size >= 3, {
      timeout: 120_000,
      interval: 10,
    });
    running.child.kill(signal);
    const { code, stdout, stderr } = await running.finished;
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/^Interrupted\.$/m);
    expect((await runCli(['cache', 'verify', '--data', data])).code).toBe(0);
    const stored = chunkFiles(data).size;
    const resumed = parse(await runCli(args));
    expect(stored).toBeGreaterThan(0);
    expect(resumed.library.precomputed).toMatchObject({ stored, computed: chunkFiles(data).size - stored });
    expect(resumed.library.precomputed?.computed).toBeGreaterThan(0);
  },
);
