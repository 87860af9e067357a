import { expect, test } from 'vitest';
import { Disposables } from './disposables.ts';
import { silentLogger } from './logger.ts';

test('what was opened is closed once, in reverse order, also after a failure', async () => {
  const own = new Disposables(silentLogger);
  const closed: string[] = [];
  const opened = (name: string, failure?: Error) =>
    own.add({
      name,
      close: async () => {
        await Promise.resolve();
        closed.push(name);
        if (failure) throw failure;
      },
    });
  expect(opened('store').name).toBe('store');
  opened('models', new Error('models'));
  opened('chat', new Error('chat'));
  await expect(own.close()).rejects.toThrow('chat');
  expect(closed).toEqual(['chat', 'models', 'store']);
  await own.close();
  expect(closed).toHaveLength(3);
});
