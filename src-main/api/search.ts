import type { Handlers } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function searchHandlers({ models, search }: App): Pick<Handlers, 'search.query'> {
  return {
    'search.query': async (input) => {
      await models.current(); // chunks are a model's: without one there is nothing to find, and no reason to say so
      return search.query(input);
    },
  };
}
