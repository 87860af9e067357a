import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
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
