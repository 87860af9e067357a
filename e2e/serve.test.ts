/** `serve` through the real program, with the real engine: starts, answers a window, ends cleanly. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Settings } from '../src-shared/settings.ts';
import { expectFailure, removeDir, ROOT, runCli, startCli, tempDir, type RunningCli } from './cli-support.ts';

const BUILT = existsSync(join(ROOT, 'out', 'renderer', 'index.html'));
const ADDRESS = /^http:\/\/127\.0\.0\.1:(\d+)\/\?token=[\w-]{43}$/m;

let dir: string;

beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

interface Served extends RunningCli {
  port: number;
  address: string;
}

async function serve(data: string, ...flags: string[]): Promise<Served> {
  const running = startCli(['serve', '--no-open', '--data', data, ...flags]);
  let printed = '';
  running.child.stdout?.on('data', (text: string) => (printed += text));
  const ended = running.finished.then(({ code, stderr }) => {
    throw new Error(`it ended with ${code}: ${stderr}`);
  });
  const found = vi.waitUntil(() => ADDRESS.exec(printed), { timeout: 60_000, interval: 50 });
  const [address, port] = await Promise.race([found, ended]);
  return { ...running, address, port: Number(port) };
}

/** The session's cookie, and the page's path. */
async function enter({ address }: Served): Promise<{ cookie: string; base: string }> {
  const entered = await fetch(address, { redirect: 'manual' });
  expect(entered.status).toBe(303);
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { cookie, base: entered.headers.get('location') ?? '' };
}

async function callOnce(
  { port }: Served,
  { cookie, base }: { cookie: string; base: string },
  name: string,
): Promise<unknown> {
  const headers = { Origin: `http://127.0.0.1:${port}`, Cookie: cookie };
  const socket = new WebSocket(`ws://127.0.0.1:${port}${base}socket`, { headers });
  try {
    return await new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => socket.send(JSON.stringify({ id: 1, name, input: {} })));
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { id?: number; data?: unknown };
        if (message.id === 1) resolve(message.data);
      });
    });
  } finally {
    socket.terminate();
  }
}

describe.skipIf(!BUILT)('serve', () => {
  test('prints an address that shows the window, and answers it from the real core', async () => {
    const served = await serve(join(dir, 'data'));
    const session = await enter(served);
    const page = await fetch(`http://127.0.0.1:${served.port}${session.base}`, {
      headers: { Cookie: session.cookie },
    });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).not.toContain('%KVASIR_NONCE%');
    const settings = (await callOnce(served, session, 'settings.get')) as Settings;
    expect(settings.maxTokens).toBeGreaterThan(0);

    served.child.kill('SIGINT');
    const { code, stderr } = await served.finished;
    expect([code, stderr]).toEqual([0, '']);
    expect(readFileSync(join(dir, 'data', 'kvasir.log'), 'utf8')).not.toContain('token=');
  });

  test('a second one on the same data is told so, and the first goes on', async () => {
    const data = join(dir, 'shared');
    const first = await serve(data);
    expectFailure(await runCli(['serve', '--no-open', '--data', data]), 'STORE_IN_USE');
    await enter(first);
    first.child.kill('SIGTERM');
    expect((await first.finished).code).toBe(0);
  });

  test('a port that is taken is told', async () => {
    const first = await serve(join(dir, 'first'));
    const second = await runCli([
      'serve',
      '--no-open',
      '--data',
      join(dir, 'second'),
      '--port',
      String(first.port),
    ]);
    expectFailure(second, 'BAD_ARGUMENT', 2);
    first.child.kill('SIGINT');
    expect((await first.finished).code).toBe(0);
  });
});
