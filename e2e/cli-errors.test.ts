/** Invalid input of commands: each case gives one typed error and an exit status, and leaves the store unharmed. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import {
  chunkFiles,
  DOCUMENTS,
  expectFailure,
  makeModel,
  QUESTION,
  removeDir,
  runCli,
  tempDir,
  writeFiles,
  type CliResult,
} from './cli-support.ts';
import { runHere } from './support/in-process.ts';

let dir: string;
let model: string;
let library: string;
/** A data folder with the library's cache, and the initial state of its files. */
let data: string;
let cached: Map<string, string>;
let rightAnswer: string;

/**
 * One thread: these models are so small that two threads would mostly wait for each other. One strategy, independent of the controller's
 * choice, so that every run reads the damaged chunk.
 */
const FEW_TOKENS = [
  '--chunk-tokens',
  '64',
  '--max-tokens',
  '8',
  '--threads',
  '1',
  '--strategy',
  'deviation',
  '--no-strict',
];

function ask(extra: string[] = [], question = QUESTION, where = data): Promise<CliResult> {
  return runHere([
    'ask',
    '--data',
    where,
    '--library',
    library,
    '--model',
    model,
    ...FEW_TOKENS,
    ...extra,
    question,
  ]);
}

interface AskOutput {
  answer: string;
  notices: { kind: string; message: string }[];
  sources: { document: string; tier: string }[];
  library: { chunks: number; precomputed: { computed: number; stored: number } };
}

function json({ stdout }: CliResult): AskOutput {
  return JSON.parse(stdout) as AskOutput;
}

const verify = (where = data): Promise<CliResult> => runHere(['cache', 'verify', '--data', where]);

beforeAll(async () => {
  dir = tempDir();
  model = makeModel(join(dir, 'model.gguf'));
  library = writeFiles(join(dir, 'library'), DOCUMENTS);
  data = join(dir, 'data');
  const first = await ask(['--json']);
  expect(first.stderr).not.toContain('Error');
  rightAnswer = json(first).answer;
  cached = chunkFiles(data);
  expect(cached.size).toBe(json(first).library.chunks);
});

afterAll(() => removeDir(dir));

/** A copy of the data folder for a test to damage. */
function copyOfData(name: string): string {
  const copy = join(dir, name);
  cpSync(data, copy, { recursive: true });
  return copy;
}

describe('the store is unharmed by', () => {
  beforeEach(() => () => expect(chunkFiles(data)).toEqual(cached));

  describe('models', () => {
    const withModel = (path: string): Promise<CliResult> =>
      runHere(['ask', '--data', data, '--library', library, '--model', path, QUESTION]);

    test('that do not exist', async () => {
      expectFailure(await withModel(join(dir, 'none.gguf')), 'MODEL_NOT_FOUND');
      expectFailure(await runHere(['model', 'info', join(dir, 'none.gguf')]), 'MODEL_NOT_FOUND');
    });

    test('that are folders or not GGUF', async () => {
      expectFailure(await withModel(dir), 'MODEL_NOT_FOUND');
      expectFailure(
        await withModel(writeFile('text.gguf', Buffer.from('just text '.repeat(100)))),
        'MODEL_INVALID',
      );
      expectFailure(await withModel(writeFile('empty.gguf', Buffer.alloc(0))), 'MODEL_INVALID');
    });

    test.each([3, 20, 200, 5000, -1])('that are truncated at byte %i', async (at) => {
      const path = join(dir, 'truncated.gguf');
      copyFileSync(model, path);
      truncateSync(path, at < 0 ? readFileSync(model).length + at : at);
      expectFailure(await withModel(path), 'MODEL_INVALID');
      expectFailure(await runHere(['model', 'info', path]), 'MODEL_INVALID');
    });

    const HUGE = 2n ** 60n;
    test.each<[string, (bytes: Buffer) => void]>([
      ['the number of tensors', (bytes) => bytes.writeBigUInt64LE(HUGE, 8)],
      ['the number of keys', (bytes) => bytes.writeBigUInt64LE(HUGE, 16)],
      ['the length of the first key', (bytes) => bytes.writeBigUInt64LE(HUGE, 24)],
      [
        'the length of the vocabulary',
        (bytes) => bytes.writeBigUInt64LE(HUGE, after(bytes, 'tokenizer.ggml.tokens') + 8),
      ],
      [
        'the width of a tensor',
        (bytes) => bytes.writeBigUInt64LE(HUGE, after(bytes, 'token_embd.weight') + 4),
      ],
      [
        'the offset of a tensor',
        (bytes) => bytes.writeBigUInt64LE(HUGE, after(bytes, 'output_norm.weight') + 4 + 8 + 4),
      ],
      ['the number of layers', (bytes) => bytes.writeUInt32LE(4000, after(bytes, 'llama.block_count') + 4)],
      [
        'the number of heads',
        (bytes) => bytes.writeUInt32LE(0, after(bytes, 'llama.attention.head_count') + 4),
      ],
      [
        'the width of the model',
        (bytes) => bytes.writeUInt32LE(1 << 20, after(bytes, 'llama.embedding_length') + 4),
      ],
    ])('whose header misstates %s', async (_, edit) => {
      expectFailure(await withModel(edited('lies.gguf', edit)), 'MODEL_INVALID');
    });

    test('of an unknown architecture', async () => {
      const path = edited('gpt99.gguf', (bytes) => {
        for (let at = bytes.indexOf('llama'); at >= 0; at = bytes.indexOf('llama', at))
          bytes.write('gpt99', at);
      });
      const failed = await withModel(path);
      expectFailure(failed, 'MODEL_UNSUPPORTED');
      expect(failed.stderr).toContain('gpt99');
      const info = await runHere(['model', 'info', path]);
      expect(info.stdout).toMatch(/Runs here +no: .*gpt99/);
    });
  });

  describe('documents', () => {
    const withLibrary = (path: string, question = QUESTION): Promise<CliResult> =>
      runHere([
        'ask',
        '--data',
        data,
        '--library',
        path,
        '--model',
        model,
        ...FEW_TOKENS,
        '--json',
        question,
      ]);

    test('in a folder that does not exist, or is a file', async () => {
      expectFailure(await withLibrary(join(dir, 'none')), 'LIBRARY_NOT_FOUND');
      expectFailure(await withLibrary(model), 'LIBRARY_NOT_FOUND');
    });

    test('in an empty folder', async () => {
      expectFailure(await withLibrary(writeFiles(join(dir, 'empty'), {})), 'LIBRARY_EMPTY');
      expectFailure(
        await withLibrary(writeFiles(join(dir, 'blank'), { 'a.md': '\n', 'b.mp3': 'x' })),
        'DOCUMENT_NO_TEXT',
      );
    });

    test('of 50 MB', async () => {
      const large = writeFiles(join(dir, 'large'), { 'large.txt': Buffer.alloc(50 * 1024 * 1024, 'text ') });
      const failed = await withLibrary(large);
      expectFailure(failed, 'DOCUMENT_TOO_LARGE');
      expect(failed.stderr).toContain('too large: 52.4 MB');
      expect(failed.stderr).toContain('The file is large.txt.');
    });

    test('that are not text despite their names', async () => {
      const binary = writeFiles(join(dir, 'binary'), { 'notes/picture.txt': Buffer.from('GIF89a\0\0\x01') });
      const failed = await withLibrary(binary);
      expectFailure(failed, 'DOCUMENT_UNSUPPORTED');
      expect(failed.stderr).toContain('notes/picture.txt is not a text file');
    });
  });

  test('a question that is longer than the context', async () => {
    expectFailure(await ask([], 'why not '.repeat(2000)), 'QUESTION_TOO_LONG');
  });

  test('another process that has it open', async () => {
    const holder = await App.open({ dataDir: data });
    try {
      expectFailure(await ask(), 'STORE_IN_USE');
    } finally {
      await holder.close();
    }
    expect((await verify()).code).toBe(0);
  });
});

test('unreadable documents are named, and the others answer', async () => {
  const mixed = writeFiles(join(dir, 'mixed'), {
    ...DOCUMENTS,
    'large.txt': Buffer.alloc(50 * 1024 * 1024, 'text '),
    'noise.txt': Buffer.from('GIF89a\0\0\x01'),
  });
  const answered = await runHere([
    'ask',
    '--data',
    join(dir, 'mixed-data'),
    '--library',
    mixed,
    '--model',
    model,
    ...FEW_TOKENS,
    '--json',
    QUESTION,
  ]);
  expect(answered.code).toBe(0);
  const failed = json(answered).notices.filter(({ kind }) => kind === 'document-failed');
  expect(failed.map(({ message }) => message)).toEqual([
    expect.stringContaining('large.txt'),
    expect.stringContaining('noise.txt'),
  ]);
  expect(answered.stderr).toContain('noise.txt');
});

test('matches that exceed the context are omitted and named', async () => {
  const small = makeModel(join(dir, 'small.gguf'), { context: 160 });
  const where = join(dir, 'small-data');
  const answered = await runHere([
    'ask',
    '--data',
    where,
    '--library',
    library,
    '--model',
    small,
    ...FEW_TOKENS,
    '--json',
    QUESTION,
  ]);
  expect(answered.code).toBe(0);
  expect(answered.stderr).toMatch(
    /Note: The context of 160 tokens cannot hold all matches; left out: .+\(chunk \d\)/,
  );
  expect(json(answered).notices.map(({ kind }) => kind)).toContain('left-out');
  expect(json(answered).sources.length).toBeGreaterThan(0);
});

describe('a mismatched cache and model', () => {
  test('a model with another vocabulary does not use the cache', async () => {
    const where = copyOfData('vocabulary');
    const other = edited('vocabulary.gguf', swapTwoTokens);
    const answered = await runHere([
      'ask',
      '--data',
      where,
      '--library',
      library,
      '--model',
      other,
      ...FEW_TOKENS,
      '--json',
      QUESTION,
    ]);
    expect(answered.code).toBe(0);
    expect(json(answered).library.precomputed).toMatchObject({ stored: 0, computed: cached.size });
    const both = chunkFiles(where);
    for (const [path, hash] of cached) expect(both.get(join(where, path.slice(data.length)))).toBe(hash);
  });

  test('a chunk file from another model is not used, and verify reports it', async () => {
    const where = copyOfData('misplaced');
    const other = edited('vocabulary.gguf', swapTwoTokens);
    const elsewhere = join(dir, 'elsewhere');
    await runHere([
      'ask',
      '--data',
      elsewhere,
      '--library',
      library,
      '--model',
      other,
      ...FEW_TOKENS,
      QUESTION,
    ]);
    const foreign = [...chunkFiles(elsewhere).keys()];
    [...chunkFiles(where).keys()].forEach((path, i) => copyFileSync(foreign[i] ?? '', path));
    const verified = await verify(copyOf(where, 'misplaced-verify'));
    expect(verified.code).toBe(1);
    expect(verified.stderr).toMatch(/Damaged, set aside/);
    const answered = await ask(['--json'], QUESTION, where);
    expect([answered.code, json(answered).answer]).toEqual([0, rightAnswer]);
  });
});

describe('a damaged cache', () => {
  test('a corrupted file is set aside, the answer is correct, and verify reports it', async () => {
    const where = copyOfData('corrupt');
    for (const path of chunkFiles(where).keys()) flipByte(path, 0.7);
    const verified = await verify(copyOf(where, 'corrupt-verify'));
    expect(verified.code).toBe(1);
    expect(verified.stderr.match(/^Damaged, set aside/gm)).toHaveLength(cached.size);

    // No cache is used: the whole prompt is computed.
    const full = json(await ask(['--json', '--strategy', 'full'])).answer;
    const answered = await ask(['--json'], QUESTION, where);
    expect([answered.code, json(answered).answer]).toEqual([0, full]);
    expect(json(answered).notices.map(({ kind }) => kind)).toContain('quarantined');
    expect(answered.stderr).toContain('was damaged');
    const again = await ask(['--json'], QUESTION, where);
    expect(json(again).answer).toBe(rightAnswer);
    expect(json(again).notices.map(({ kind }) => kind)).not.toContain('quarantined');
  });

  test('a truncated or deleted file is computed again', async () => {
    const where = copyOfData('truncated');
    const [first, second] = [...chunkFiles(where).keys()];
    truncateSync(first ?? '', 100);
    renameSync(second ?? '', join(dir, 'gone.kvc'));
    const answered = await ask(['--json'], QUESTION, where);
    expect([answered.code, json(answered).answer]).toEqual([0, rightAnswer]);
    expect(json(answered).library.precomputed.computed).toBeGreaterThan(0);
    expect((await verify(where)).code).toBe(0);
  });

  test('a file of a newer format is left unchanged, and verify reports it', async () => {
    const where = copyOfData('newer-file');
    const [path] = chunkFiles(where).keys();
    const newer = makeNewer(path ?? '');
    const before = readFileSync(newer);
    const verified = await verify(where);
    expect(verified.code).toBe(1);
    expect(verified.stderr).toMatch(/newer version of Kvasir/);
    const answered = await ask(['--json'], QUESTION, where);
    expect([answered.code, json(answered).answer]).toEqual([0, rightAnswer]);
    expect(readFileSync(newer).equals(before)).toBe(true);
  });

  test.each(['cache/index.db', 'catalogue.sqlite'])(
    'a newer %s is refused and left unchanged',
    async (file) => {
      const where = copyOfData(`newer-${basename(file)}`);
      const database = new Database(join(where, file), { fileMustExist: true });
      database.pragma('user_version = 9999');
      database.close();
      const before = chunkFiles(where);
      expectFailure(await ask([], QUESTION, where), 'STORE_VERSION');
      expect(chunkFiles(where)).toEqual(before);
    },
  );
});

describe('folders that cannot be written', () => {
  test('below a file, and in /proc', async () => {
    expectFailure(await ask([], QUESTION, join(model, 'data')), 'STORE_READ_ONLY');
    if (existsSync('/proc/self')) expectFailure(await ask([], QUESTION, '/proc/kvasir'), 'STORE_READ_ONLY');
  });

  test('a file in place of the cache folder', async () => {
    const where = writeFiles(join(dir, 'taken'), { cache: 'a file' });
    expectFailure(await ask([], QUESTION, where), 'STORE_READ_ONLY');
    expect(readFileSync(join(where, 'cache'), 'utf8')).toBe('a file');
  });

  test('a read-only disk', async (context) => {
    const where = mount(context, 'read-only', 'size=64m');
    cpSync(data, where, { recursive: true });
    spawnSync('mount', ['-o', 'remount,ro', where]);
    expectFailure(await ask([], QUESTION, where), 'STORE_READ_ONLY');
  });

  test('a full disk: stored chunks stay, no partial chunk is served', async (context) => {
    const where = mount(context, 'full', 'size=1m');
    const large = makeModel(join(dir, 'large-kv.gguf'), { layers: 32, 'kv-heads': 2 });
    const failed = await runHere([
      'ask',
      '--data',
      where,
      '--library',
      library,
      '--model',
      large,
      ...FEW_TOKENS,
      QUESTION,
    ]);
    expectFailure(failed, 'DISK_FULL');
    // On a full disk, even verify may fail; it must then give the reason.
    const whileFull = await verify(where);
    if (whileFull.code !== 0) expectFailure(whileFull, 'DISK_FULL');
    spawnSync('mount', ['-o', 'remount,size=4m', where]);
    expect((await verify(where)).code).toBe(0);
  });
});

test('a disk without a free byte: the cache can be emptied, and then it works again', async (context) => {
  const where = mount(context, 'brim', 'size=16m');
  cpSync(data, where, { recursive: true });
  const rest = join(where, 'rest');
  const fill = (bytes: number): void => {
    for (;;) appendFileSync(rest, Buffer.alloc(bytes));
  };
  expect(() => fill(1 << 16)).toThrow(/ENOSPC/);
  expect(() => fill(1)).toThrow(/ENOSPC/);
  const emptied = await runHere(['cache', 'evict', '--all', '--data', where]);
  expect(emptied.stderr).toBe('');
  expect(emptied.code).toBe(0);
  expect(chunkFiles(where).size).toBe(0);
  truncateSync(rest, 0);
  expect(json(await ask(['--json'], QUESTION, where)).answer).toBe(rightAnswer);
});

describe('usage', () => {
  test.each([
    [['frobnicate']],
    [['serve', '--port', 'x']],
    [['ask']],
    [['ask', '--bogus', 'q']],
    [['ask', '--top-k', '0', 'q']],
    [['ask', '--max-tokens', 'many', 'q']],
    [['ask', '--dtype', 'f64', 'q']],
    [['ask', '--chunk-tokens', '3', 'q']],
    [['calibrate', '--max-tokens', '5']],
    [['calibrate', '--strict']],
    [['analyse', '--top-k', '3', 'document', 'instruction']],
    [['compare']],
    [['compare', '--strategies', 'magic', 'q']],
    [['compare', '--strategies', 'query:2', 'q']],
    [['cache', 'evict']],
    [['cache', 'evict', '--bytes', '-5']],
    [['cache', 'evict', '--all', '--bytes', '5']],
    [['model', 'info']],
  ])('%j exits with 2', async (args) => {
    const { code, stdout, stderr } = await runHere(['--data', join(dir, 'usage'), ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^[Ee]rror: /m);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test.each([
    ['--strategy', 'magic'],
    ['--ratio', '2'],
    ['--ratio', 'x'],
    ['--ratio', '0.1,0.2'],
    ['--check-layers', '7'],
  ])('%s %s exits with 2', async (flag, value) => {
    expectFailure(await ask([flag, value]), 'BAD_ARGUMENT', 2);
  });

  test.each([
    [[]],
    [['serve']],
    [['demo']],
    [['ask']],
    [['cache']],
    [['cache', 'ls']],
    [['cache', 'verify']],
    [['cache', 'evict']],
    [['model']],
    [['model', 'info']],
    [['compare']],
  ])('%j --help exits with 0', async (command) => {
    const { code, stdout, stderr } = await runHere([...command, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Usage: kvasir');
  });

  test('invalid settings do not abort a command', async () => {
    const where = writeFiles(join(dir, 'settings'), { 'settings.json': '{"topK": "many", "maxTokens": 4,' });
    const { code } = await ask([], QUESTION, where);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(join(where, 'settings.json'), 'utf8'))).toEqual({ maxTokens: 4 });
  });

  test('--debug adds the stack, in lines of the sources', async () => {
    const { stderr } = await runCli(['--debug', 'model', 'info', join(dir, 'none.gguf')]);
    expect(stderr).toMatch(/^\s+at .*src-main\/.+\.ts:\d+:\d+\)?$/m);
    expect(stderr).not.toContain('out/main');
  });
});

function writeFile(name: string, bytes: Buffer): string {
  writeFileSync(join(dir, name), bytes);
  return join(dir, name);
}

/** A copy of the model with some bytes changed. */
function edited(name: string, edit: (bytes: Buffer) => unknown): string {
  const bytes = readFileSync(model);
  edit(bytes);
  return writeFile(name, bytes);
}

/** Offset of the value after a GGUF key or tensor name. */
function after(bytes: Buffer, name: string): number {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(name.length));
  const at = bytes.indexOf(Buffer.concat([length, Buffer.from(name)]));
  expect(at).toBeGreaterThan(0);
  return at + 8 + name.length;
}

/** Swaps two tokens of the same length: the same weights, another vocabulary. */
function swapTwoTokens(bytes: Buffer): void {
  const tokens = after(bytes, 'tokenizer.ggml.tokens') + 4 + 4 + 8;
  const places = ['x', 'y'].map((letter) => {
    const entry = Buffer.alloc(9);
    entry.writeBigUInt64LE(1n);
    entry.write(letter, 8);
    return bytes.indexOf(entry, tokens) + 8;
  });
  const [x = 0, y = 0] = places;
  bytes.write('y', x);
  bytes.write('x', y);
}

function flipByte(path: string, where: number): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length * where);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  writeFileSync(path, bytes);
}

/** Turns a chunk file into one of a newer version: the version follows the magic, and is part of the name. */
function makeNewer(path: string): string {
  const bytes = readFileSync(path);
  bytes.writeUInt32LE(99, bytes.indexOf(1, 4) & ~3);
  writeFileSync(path, bytes);
  const newer = path.replace('.v1.kvc', '.v99.kvc');
  renameSync(path, newer);
  return newer;
}

function copyOf(where: string, name: string): string {
  const copy = join(dirname(where), name);
  cpSync(where, copy, { recursive: true });
  return copy;
}

/** Mounts a small file system; skips the test if the user may not mount one. */
function mount(
  context: { skip: (note: string) => never; onTestFinished: (fn: () => void) => void },
  name: string,
  options: string,
): string {
  const where = join(dir, name);
  mkdirSync(where);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', where]);
  if (mounted.status !== 0) context.skip('mounting a small disk requires root');
  context.onTestFinished(() => void spawnSync('umount', [where]));
  return where;
}
