import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import { unlessAborted } from '../platform/abort.ts';
import type { App } from '../app.ts';
import { contract } from '../../src-shared/contract/contract.ts';
import { searchHandlers } from './search.ts';

const input = contract['search.query'].input.parse({ text: 'ferry' });
const found = { hits: [], usedVectors: false, ms: 1 };

/** The handler over a search that finds nothing until a model is loaded, like the real one. */
function query(current: Promise<unknown>) {
  let loaded = false;
  void current.then(
    () => (loaded = true),
    () => undefined,
  );
  const app = {
    loader: { current: () => current },
    search: { query: () => (loaded ? Promise.resolve(found) : Promise.reject(new Error('asked too early'))) },
  };
  return searchHandlers(app as unknown as App)['search.query'](input);
}

test('a search waits for the model whose chunks it is to find', async () => {
  const model = Promise.withResolvers<unknown>();
  const answer = query(model.promise);
  model.resolve({});
  expect(await answer).toEqual(found);
});

test('a search explains why if no model can be loaded', async () => {
  const failure = new KvasirError('MODEL_NOT_FOUND', 'There is no model file.');
  await expect(query(Promise.reject(failure))).rejects.toBe(failure);
});

test('a newer search of the same field ends the older one, and no other', async () => {
  const open: { text: string; signal: AbortSignal; answer: PromiseWithResolvers<typeof found> }[] = [];
  const search = {
    query: ({ text }: { text: string }, signal: AbortSignal) => {
      const answer = Promise.withResolvers<typeof found>();
      open.push({ text, signal, answer });
      return unlessAborted(answer.promise, signal);
    },
  };
  const app = { loader: { current: () => Promise.resolve() }, search };
  const handle = searchHandlers(app as unknown as App)['search.query'];
  const ask = async (text: string, field?: string) => handle({ ...input, text, field });
  const older = ask('fer', 'a');
  const others = [ask('lamp', 'b'), ask('pier')];
  const newer = ask('ferry', 'a');
  await expect(older).rejects.toMatchObject({ code: 'ABORTED' });
  expect(open.map(({ text, signal }) => [text, signal.aborted])).toEqual([
    ['fer', true],
    ['lamp', false],
    ['pier', false],
    ['ferry', false],
  ]);
  for (const { answer } of open) answer.resolve(found);
  expect(await Promise.all([newer, ...others])).toEqual([found, found, found]);
});
