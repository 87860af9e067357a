import type { Handlers } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function searchHandlers({ search, settings }: App): Pick<Handlers, 'search.query'> {
  return {
    'search.query': (input) => search.query(input, settings.current.topK),
  };
}
