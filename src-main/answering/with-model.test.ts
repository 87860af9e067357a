import { expect, test } from 'vitest';
import { Gate } from '../platform/gate.ts';
import { withModel } from './with-model.ts';

const { signal: NEVER } = new AbortController();

/** A gate that is occupied until `free` is called, and models of which none is loaded before it is requested. */
function taken() {
  const gate = new Gate();
  const held = Promise.withResolvers<undefined>();
  const holding = gate.foreground(() => held.promise);
  const models = {
    active: undefined as string | undefined,
    loaded: 0,
    current: () => Promise.resolve((models.active ??= `model ${++models.loaded}`)),
  };
  const free = (): Promise<unknown> => {
    held.resolve(undefined);
    return holding;
  };
  return { gate, models, free };
}

test('a model that went meanwhile is waited for again', async () => {
  const { gate, models, free } = taken();
  const answered = withModel({ gate, models }, { signal: NEVER }, (model) => Promise.resolve(model));
  await expect.poll(() => models.loaded).toBe(1);
  models.active = undefined;
  await free();
  expect(await answered).toBe('model 2');
});

test('stopping ends a wait immediately, and nothing starts afterwards', async () => {
  const { gate, models, free } = taken();
  const stop = new AbortController();
  let begun = false;
  const work = (): Promise<void> => {
    begun = true;
    return Promise.resolve();
  };
  const answered = withModel({ gate, models }, stop, work);
  stop.abort();
  await expect(answered).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(withModel({ gate, models }, stop, work)).rejects.toMatchObject({ code: 'ABORTED' });
  await free();
  await gate.foreground(() => Promise.resolve());
  expect(begun).toBe(false);
});

test('stopping lets running work end on its own', async () => {
  const { gate, models, free } = taken();
  await free();
  const stop = new AbortController();
  const answered = withModel({ gate, models }, stop, (model) => {
    stop.abort();
    return Promise.resolve(model);
  });
  expect(await answered).toBe('model 1');
});
