import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import { readHandlers } from './libraries.ts';

test('stopping a read resolves once it has ended, so that its model can be freed', async () => {
  let ended = false;
  const libraries = {
    read: async (_path: unknown, _target: unknown, { signal }: { signal: AbortSignal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await new Promise((resolve) => setTimeout(resolve, 10));
      ended = true;
      throw new KvasirError('ABORTED', 'Stopped.');
    },
  };
  const handlers = readHandlers({
    libraries,
    settings: { current: { dtype: 'f16' } },
    loader: { current: () => Promise.resolve({ model: {}, chunkTokens: 64 }) },
  } as never);
  const read = expect(handlers['libraries.read']({ precompute: true })).rejects.toMatchObject({
    code: 'ABORTED',
  });
  await Promise.resolve(); // until the model is known
  await handlers['libraries.stopReading']({});
  expect(ended).toBe(true);
  await read;
});
