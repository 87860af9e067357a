/** Two processes on one data folder: the first runs the second one's command. Real processes, engine and demo model. */
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readHostFile } from '../src-main/hosts/client/host-file.ts';
import {
  DOCUMENTS,
  expectFailure,
  makeModel,
  QUESTION,
  removeDir,
  ROOT,
  waitForOutput,
  startCli,
  tempDir,
  writeFiles,
  type CliResult,
  type RunningCli,
} from './cli-support.ts';
import { endApi, serveApi } from './support/api-server.ts';
import { runAsGuest, runHere } from './support/in-process.ts';
import { readyData } from './support/ready-data.ts';
import { enter, serve, WindowCalls, type WindowServer } from './support/served-window.ts';

const BUILT = existsSync(join(ROOT, 'out', 'renderer', 'index.html'));

let dir: string;
let library: string;
/** Its answers are noise of maximum length. */
let model: string;

/** A command on a database that another program holds. It waits for a minute, during which the other tests run. */
let held: { ask: string[]; other: SQLite.Database; waiting: RunningCli };

beforeAll(async () => {
  dir = tempDir();
  library = writeFiles(join(dir, 'here', 'notes'), DOCUMENTS);
  model = makeModel(join(dir, 'here', 'random.gguf'), { context: 8192 });
  const data = join(dir, 'held');
  const ask = ['ask', '--data', data, '--library', library, '--max-tokens', '2', QUESTION];
  expect((await runHere(ask)).code).toBe(0);
  const other = new SQLite(join(data, 'catalogue.sqlite'));
  other.exec('BEGIN EXCLUSIVE');
  held = { ask, other, waiting: startCli(ask) };
});
afterAll(() => {
  held.waiting.child.kill('SIGKILL');
  removeDir(dir);
});

async function owner(data: string): Promise<WindowServer> {
  if (!existsSync(data)) {
    await readyData(data);
    // Kvasir stops a model that repeats itself; these sampling options prevent repetition.
    const varied = { temperature: 2, repeatPenalty: 2, topK: 0, topP: 1, minP: 0 };
    writeFileSync(join(data, 'settings.json'), JSON.stringify({ sampling: { [model]: varied } }));
  }
  const served = await serve(data);
  onTestFinished(() => void served.child.kill('SIGKILL'));
  return served;
}

async function end({ child, finished }: RunningCli): Promise<CliResult> {
  child.kill('SIGINT');
  return finished;
}

/** Thousands of tokens of noise. */
const LONG = ['--max-tokens', '7000', '--strategy', 'full'];

function startLong(data: string): RunningCli {
  return startCli(['ask', '--data', data, '--library', library, '--model', model, ...LONG, QUESTION]);
}

/** The part of `ask --json` that is the same in each run. */
function lasting({ stdout }: CliResult): unknown {
  const {
    question,
    answer,
    sources,
    prompt,
    model: used,
    library: read,
  } = JSON.parse(stdout) as {
    sources: { document: string; chunk: number }[];
    prompt: { promptTokens: number };
    library: { documents: number; chunks: number };
  } & Record<string, unknown>;
  const { documents, chunks } = read;
  // Scores are excluded: word rarity is computed over all libraries, and the owner also has the sample library.
  const found = sources.map(({ document, chunk }) => [document, chunk]);
  return { question, answer, found, tokens: prompt.promptTokens, used, documents, chunks };
}

test('a suspended owner is reported as not responding, and answers again once it resumes', async () => {
  const data = await readyData(join(dir, 'suspended'));
  const api = await serveApi(data);
  onTestFinished(() => void api.child.kill('SIGKILL'));
  api.child.kill('SIGSTOP');
  const verify = ['cache', 'verify', '--data', data];
  const ended = await runHere(verify);
  expectFailure(ended, 'STORE_IN_USE');
  expect(ended.stderr).toMatch(/Kvasir \(process \d+\) has the data folder .* open, but does not answer/);
  api.child.kill('SIGCONT');
  expect((await runHere(verify)).code).toBe(0);
  await endApi(api);
});

describe.skipIf(!BUILT)('next to a window', () => {
  test("a command gives the same output as alone, with the caller's working directory", async () => {
    // The sample library has been read, which affects all scores.
    const data = await readyData(join(dir, 'alike'));
    const here = join(dir, 'here');
    const commands = [
      ['ask', '--library', 'notes', '--max-tokens', '12', '--strategy', 'none', '--json', QUESTION],
      [
        'ask',
        '--library',
        'notes',
        '--model',
        'random.gguf',
        '--max-tokens',
        '4',
        '--strategy',
        'none',
        '--json',
        QUESTION,
      ],
      ['ask', '--library', 'nowhere', QUESTION],
      [
        'ask',
        '--library',
        'notes',
        '--threads',
        '500',
        '--strategy',
        'none',
        '--json',
        '--max-tokens',
        '2',
        QUESTION,
      ],
      ['analyse', join('notes', 'mara.md'), 'What is said?', '--max-tokens', '4', '--window', '0'],
      ['cache', 'verify', '--json'],
      ['cache', 'evict'],
    ];
    const run = (): Promise<CliResult[]> =>
      commands.reduce<Promise<CliResult[]>>(async (before, args) => {
        const done = await before;
        return [...done, await runHere([...args, '--data', data], { cwd: here })];
      }, Promise.resolve([]));
    const windowed = async (): Promise<WindowServer> => {
      const served = await owner(data);
      const window = await WindowCalls.open(served, await enter(served));
      await vi.waitFor(
        async () => expect(await window.call('queue.status', {})).toMatchObject({ waiting: 0, active: 0 }),
        { timeout: 60_000 },
      );
      window.close();
      return served;
    };
    await run(); // stores every chunk
    const alone = await run();
    const served = await windowed();
    const beside = await run();
    expect(beside.map(({ code }) => code)).toEqual(alone.map(({ code }) => code));
    expect(beside.map(({ code }) => code)).toEqual([0, 0, 1, 0, 2, 0, 2]);
    for (const i of [0, 1]) expect(lasting(beside[i]!)).toEqual(lasting(alone[i]!));
    for (const i of [2, 4, 6]) expect(beside[i]).toEqual(alone[i]);
    expect(beside[3]?.stderr).toBe(alone[3]?.stderr);
    expect(beside[3]?.stderr).toContain('The setting threads is 500');
    // The owner has also computed the sample library's chunks.
    for (const verified of [alone[5], beside[5]])
      expect(JSON.parse(verified?.stdout ?? '')).toMatchObject({ corrupt: [], missing: [], newerFormat: [] });
    expect(await end(served)).toMatchObject({ code: 0, stderr: '' });
  });

  test('flags apply to their command only', async () => {
    const data = join(dir, 'flags');
    const served = await owner(data);
    const window = await WindowCalls.open(served, await enter(served));
    const before = await window.call('settings.get', {});
    await expect(window.call('command.window', { port: 0 })).rejects.toThrow('Only commands');
    const flags = ['--max-tokens', '3', '--dtype', 'q8_0', '--top-k', '1', '--chunk-tokens', '40', '--json'];
    const asked = await runAsGuest(data, ['ask', '--library', library, ...flags, QUESTION]);
    expect(asked).toMatchObject({ code: 0 });
    const { sources } = JSON.parse(asked.stdout) as { sources: object[] };
    expect(sources).toHaveLength(1);
    expect(await window.call('settings.get', {})).toEqual(before);
    const { stdout } = await runAsGuest(data, ['cache', 'ls', '--json']);
    const { entries } = JSON.parse(stdout) as { entries: { dtype: string; label: string }[] };
    expect(entries.filter(({ label }) => label === 'mara.md').map(({ dtype }) => dtype)).toContain('q8_0');
    window.close();
    await end(served);
  });

  test('a command killed during its answer leaves nothing behind', async () => {
    const data = join(dir, 'killed');
    const served = await owner(data);
    const asking = startLong(data);
    await once(asking.child.stdout!, 'data');
    asking.child.kill('SIGKILL');
    await asking.finished;
    await vi.waitFor(
      async () => {
        const { stdout } = await runAsGuest(data, ['cache', 'evict', '--all']);
        expect(stdout).toMatch(/^Removed \d+ chunks, [^;]+\.$/m); // no chunk is leased
      },
      { timeout: 60_000, interval: 500 },
    );
    expect((await runAsGuest(data, ['ask', '--max-tokens', '2', '--library', library, QUESTION])).code).toBe(
      0,
    );
    expect(await end(served)).toMatchObject({ code: 0 });
    expect(existsSync(join(data, 'host.json'))).toBe(false);
  });

  test('Ctrl-C ends the command, and the owner keeps running', async () => {
    const data = join(dir, 'interrupted');
    const served = await owner(data);
    const asking = startLong(data);
    await once(asking.child.stdout!, 'data');
    const { code, stderr } = await end(asking);
    expect(code).toBe(130);
    expect(stderr).toMatch(/^Interrupted\.$/m);
    expect((await runAsGuest(data, ['cache', 'verify'])).code).toBe(0);
    await end(served);
  });

  test('when the owner is killed, the command reports it, and the next one owns the folder', async () => {
    const data = join(dir, 'orphaned');
    const served = await owner(data);
    const asking = startLong(data);
    await once(asking.child.stdout!, 'data');
    served.child.kill('SIGKILL');
    expectFailure(await asking.finished, 'CONNECTION_LOST');
    expect(existsSync(join(data, 'host.json'))).toBe(true); // no process has deleted it yet
    expect(await runHere(['cache', 'verify', '--data', data])).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(join(data, 'host.json'))).toBe(false);
  });

  test('when the owner is stopped, likewise', async () => {
    const data = join(dir, 'stopped');
    const served = await owner(data);
    const asking = startLong(data);
    await once(asking.child.stdout!, 'data');
    expect(await end(served)).toMatchObject({ code: 0, stderr: '' });
    expectFailure(await asking.finished, 'CONNECTION_LOST');
  });

  test('a connection without the token is refused', async () => {
    const data = join(dir, 'strangers');
    const served = await owner(data);
    const { socket: path, token } = readHostFile(data)!;
    if (process.platform !== 'win32')
      for (const file of [path, join(data, 'host.json')]) expect(statSync(file).mode & 0o077).toBe(0);
    const handshake = (...headers: string[]): string =>
      [
        'GET / HTTP/1.1',
        'Host: kvasir',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        ...headers,
        '\r\n',
      ].join('\r\n');
    const greetings = [
      handshake(`Authorization: ${token.slice(0, -1)}-`),
      handshake(),
      'GET / HTTP/1.1\r\nHost: kvasir\r\n\r\n',
      JSON.stringify({ id: 1, name: 'cache.stats', input: {} }),
      'x'.repeat(3 * 1024 * 1024),
    ];
    for (const greeting of greetings) {
      const socket = connect(path).on('error', () => undefined);
      let heard = '';
      socket.on('data', (text: Buffer) => (heard += String(text)));
      socket.write(`${greeting}\n`);
      await new Promise((resolve) => socket.once('close', resolve));
      expect(heard).toBe('');
    }
    expect((await runAsGuest(data, ['cache', 'ls'])).code).toBe(0);
    await end(served);
    expect(readFileSync(join(data, 'kvasir.log'), 'utf8')).not.toContain(token);
  });

  test('a data folder whose path is too long for a socket uses another path', async () => {
    const data = join(dir, 'long'.repeat(20), 'path'.repeat(20), 'data');
    const served = await owner(data);
    const { socket } = readHostFile(data)!;
    expect(dirname(socket)).not.toBe(data);
    if (process.platform !== 'win32') expect(statSync(dirname(socket)).mode & 0o077).toBe(0);
    expect((await runHere(['cache', 'ls', '--data', data])).code).toBe(0);
    await end(served);
    expect(existsSync(dirname(socket))).toBe(false);
  });
});

describe.skipIf(!BUILT)('a command that owns the folder', () => {
  /** A command that is busy for a while, and a window that it serves meanwhile. */
  async function busy(
    data: string,
  ): Promise<{ first: RunningCli; guest: WindowServer; waits: Promise<unknown> }> {
    const people = join(ROOT, 'resources', 'sample-library', 'people'); // a third of the sample: seconds of computing
    const first = startCli(['ask', '--data', data, '--library', people, 'Where does Elsa Wexler sit?']);
    onTestFinished(() => void first.child.kill('SIGKILL'));
    const waits = waitForOutput(first, /waiting for other commands that use this process/);
    await vi.waitUntil(() => readHostFile(data) !== undefined, { timeout: 60_000 });
    return { first, guest: await owner(data), waits };
  }

  test('stays until its last guest has left', async () => {
    const { first, guest, waits } = await busy(join(dir, 'stays'));
    await waits;
    const window = await WindowCalls.open(guest, await enter(guest));
    expect(await window.call('libraries.list', {})).not.toHaveLength(0);
    window.close();
    expect(await end(guest)).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await first.finished;
    expect([code, stdout]).toEqual([0, expect.stringContaining('desk')]);
  });

  test('ends its guests on Ctrl-C, and they report it', async () => {
    const { first, guest, waits } = await busy(join(dir, 'ends'));
    await waits;
    expect((await end(first)).code).toBe(0);
    expectFailure(await guest.finished, 'CONNECTION_LOST');
  });
});

test('a database that another program holds is named, and the command works once it is released', async () => {
  const { ask, other, waiting } = held;
  const ended = await waiting.finished;
  expectFailure(ended, 'DATABASE_HELD');
  expect(ended.stderr).toContain('is in use by another program');
  other.close();
  expect((await runHere(ask)).code).toBe(0);
});
