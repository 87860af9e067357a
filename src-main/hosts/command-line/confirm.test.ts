import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { requireConfirmed } from './confirm.ts';
import { terminalOn } from './terminal.ts';

/** A person who types this; undefined: no terminal. */
async function confirm(typed: string | undefined, signal = new AbortController().signal): Promise<string> {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  const stderr = new PassThrough();
  stdin.end(typed);
  const words = { consequence: 'It is lost.', otherwise: 'Use --yes.' };
  await requireConfirmed({ stdin, terminal: terminalOn(new PassThrough(), stderr, false), signal }, words);
  return String(stderr.read());
}

test('asks at the terminal', async () => {
  for (const typed of ['y\n', 'Yes\n', ' y '])
    expect(await confirm(typed)).toBe('It is lost. Continue? [y/N]\n');
});

test('anything else, and the end of the input, is a no', async () => {
  for (const typed of ['n\n', '\n', '', 'yellow\n'])
    await expect(confirm(typed), typed).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(confirm('y\n', AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
});

test('without a terminal the error says what would be lost and what to do', async () => {
  const refused = { code: 'BAD_ARGUMENT', message: 'It is lost.', advice: 'Use --yes.' };
  await expect(confirm(undefined)).rejects.toMatchObject(refused);
});
