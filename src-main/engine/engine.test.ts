/** Invalid requests from callers and from the environment, with the demo model. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Engine, GREEDY, type Model, type Session } from './engine.ts';

const DEMO = join(import.meta.dirname, '..', '..', 'resources', 'models', 'kvasir-demo.gguf');
const FULL = { kind: 'full' } as const;

let model: Model;
beforeAll(async () => {
  model = await Engine.open().loadModel(DEMO, { threads: 1, device: 'cpu' });
});
afterAll(() => model.dispose());

async function sessionOf(text: string): Promise<Session> {
  const session = model.createSession(64);
  onTestFinished(() => session.dispose());
  await session.append([{ kind: 'compute', tokens: model.tokenize(text) }], FULL);
  return session;
}

describe('numbers that mean nothing are refused, and the session goes on', () => {
  test.each([
    ['temperature', NaN],
    ['temperature', Infinity],
    ['topP', NaN],
    ['minP', NaN],
    ['repeatPenalty', NaN],
    ['topK', 1.5],
    ['seed', 1e30],
    ['seed', -1],
    ['seed', NaN],
  ])('%s %s', async (name, value) => {
    const session = await sessionOf('Where does the ferry leave?');
    const sampling = { ...GREEDY, temperature: 0.5, [name]: value };
    await expect(session.generate({ maxTokens: 2, sampling })).rejects.toThrow(name);
    expect((await session.generate({ maxTokens: 2 })).tokens.length).toBeGreaterThan(0);
  });

  test('observe -3', async () => {
    const session = await sessionOf('Where');
    const more = [{ kind: 'compute', tokens: model.tokenize(' is it?') }] as const;
    await expect(session.append([...more], FULL, { observe: -3 })).rejects.toThrow(/observe/);
    await session.append([...more], FULL, { observe: 1 });
  });
});

test('what was cut off a session does not go on in its answers', async () => {
  const session = await sessionOf('The ferry leaves the blue pier at');
  session.truncate(session.length);
  await session.generate({ maxTokens: 1 });
  session.truncate(3);
  await expect(session.generate({ maxTokens: 1 })).rejects.toThrow(/append/);
  await session.append([{ kind: 'compute', tokens: model.tokenize(' pier') }], FULL);
  await session.generate({ maxTokens: 1 });
});

describe('what the environment asks for', () => {
  /**
   * Runs a process with these variables and the demo model; returns the bytes of some logits, or the error's code and
   * advice.
   */
  async function said(env: Record<string, string>): Promise<string> {
    const source = `
      import { Engine } from ${JSON.stringify(new URL('./engine.ts', import.meta.url).href)};
      try {
        const model = await Engine.open().loadModel(${JSON.stringify(DEMO)}, { threads: 1, device: 'cpu' });
        const session = model.createSession(64);
        await session.append([{ kind: 'compute', tokens: model.tokenize('Where does the ferry leave the pier?') }], { kind: 'full' });
        console.log(Buffer.from(session.logits().buffer).toString('base64'));
      } catch (error) {
        console.log(error.code + ': ' + error.advice);
      }`;
    const args = ['--input-type=module', '-e', source];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, ...env },
      maxBuffer: 1 << 24,
    });
    return stdout.trim();
  }

  test('a kernel that this machine lacks is the next slower one of ours', async () => {
    const fastest = await said({});
    expect(await said({ KVASIR_ATTENTION: 'amx' })).toBe(fastest);
    expect(await said({ KVASIR_ATTENTION: 'ggml' })).not.toBe(fastest);
    expect(await said({ KVASIR_MATMUL: 'amx' })).toBe(fastest);
  });

  test("a processor's library that is not there or does not run here says how to go on", async () => {
    expect(await said({ KVASIR_CPU: 'pentium' })).toBe(
      'ENGINE_FAILED: Unset KVASIR_CPU, or name another library.',
    );
  });
});

test('a process that exits while it computes does not crash', async () => {
  const source = `
    import { Engine } from ${JSON.stringify(join(import.meta.dirname, 'engine.ts'))};
    const model = await Engine.open().loadModel(${JSON.stringify(DEMO)}, { threads: 1, device: 'cpu' });
    const tokens = Int32Array.from({ length: 300 }, (_, i) => 10 + i);
    void model.createSession(400).append([{ kind: 'compute', tokens }], { kind: 'full' });
    model.dispose();
    setTimeout(() => process.exit(3), 30); // well within the pass`;
  const node = [process.execPath, '--input-type=module', '-e', source];
  // On all cores, where taskset is installed: on one, the process is usually gone before its other threads continue.
  const [program = '', ...args] = existsSync('/usr/bin/taskset') ? ['taskset', '0xffff', ...node] : node;
  for (let i = 0; i < 10; i++)
    await expect(promisify(execFile)(program, args)).rejects.toMatchObject({ code: 3 });
});
