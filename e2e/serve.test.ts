/** `serve` through the real program, with the real engine: starts, answers a window, ends cleanly. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { expectFailure, removeDir, ROOT, runCli, startCli, tempDir, waitForOutput } from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { readyData } from './support/ready-data.ts';
import { ADDRESS, enter, serve, WindowCalls } from './support/served-window.ts';

const BUILT = existsSync(join(ROOT, 'out', 'renderer', 'index.html'));

let dir: string;

beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

function addressesIn(text: string): string[] {
  return text.match(new RegExp(ADDRESS, 'gm')) ?? [];
}

describe.skipIf(!BUILT)('serve', () => {
  test('prints a URL that shows the window, and answers it from the real core', async () => {
    const served = await serve(await readyData(join(dir, 'data')));
    const session = await enter(served);
    const page = await fetch(`http://127.0.0.1:${served.port}${session.base}`, {
      headers: { Cookie: session.cookie },
    });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).not.toContain('%KVASIR_NONCE%');
    const window = await WindowCalls.open(served, session);
    expect((await window.call('settings.get', {})).maxTokens).toBeGreaterThan(0);
    window.close();

    served.child.kill('SIGINT');
    const { code, stderr } = await served.finished;
    expect([code, stderr]).toEqual([0, '']);
    expect(readFileSync(join(dir, 'data', 'kvasir.log'), 'utf8')).not.toContain('token=');
  });

  test('a second one on the same data shows the same, and ends independently', async () => {
    const data = await readyData(join(dir, 'shared'));
    const first = await serve(data);
    const second = await serve(data);
    expect(second.port).not.toBe(first.port);
    const [one, other] = [
      await WindowCalls.open(first, await enter(first)),
      await WindowCalls.open(second, await enter(second)),
    ];
    const { id } = await other.call('chat.create', {});
    expect(await one.call('chat.get', { id })).toMatchObject({ id });
    second.child.kill('SIGTERM');
    expect(await second.finished).toMatchObject({ code: 0, stderr: '' });
    expect(await one.call('chat.get', { id })).toMatchObject({ id });
    await expect(fetch(second.address)).rejects.toThrow();
    one.close();
    first.child.kill('SIGTERM');
    expect((await first.finished).code).toBe(0);
  });

  test.runIf(process.platform === 'linux')(
    'opens the browser at another address, which the printed one outlives',
    async () => {
      const data = await readyData(join(dir, 'opened'));
      const [bin, opened] = [join(dir, 'bin'), join(dir, 'address.txt')];
      mkdirSync(bin, { recursive: true });
      // `open` runs its bundled xdg-open, which starts $BROWSER, or the one of the system.
      writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > '${opened}'\n`, { mode: 0o755 });
      const env = {
        DISPLAY: ':9',
        BROWSER: join(bin, 'xdg-open'),
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      };
      const running = startCli(['serve', '--data', data], env);
      const [printed] = await waitForOutput(running, ADDRESS);
      await vi.waitFor(() => expect(readFileSync(opened, 'utf8')).toMatch(ADDRESS), 30_000);
      const shown = readFileSync(opened, 'utf8').trim();
      expect(shown).not.toBe(printed);
      for (const address of [shown, printed])
        expect((await fetch(address, { redirect: 'manual' })).status).toBe(303);
      running.child.kill('SIGINT');
      expect(await running.finished).toMatchObject({ code: 0, stderr: '' });
    },
  );

  test('Enter in the terminal prints another address', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stop = new AbortController();
    stdin.write('\n');
    const { code, stdout } = await runHere(['serve', '--no-open', '--data', join(dir, 'first')], {
      stdin,
      signal: stop.signal,
      onOutput: (text) => addressesIn(text).length > 1 && stop.abort(),
    });
    expect(code).toBe(0);
    expect(new Set(addressesIn(stdout)).size).toBe(2);
    expect(stdout).toContain('Press Enter for another address');
  });

  test('a port in use is reported', async () => {
    const first = await serve(await readyData(join(dir, 'first')));
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
