import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';
import type { ModelSource } from '../models/active-model.ts';

export function searchHandlers({
  loader,
  search,
}: Pick<App, 'search'> & { loader: Pick<ModelSource, 'current'> }): HandlersOf<'search'> {
  return {
    'search.query': async (input) => {
      await loader.current(); // Chunks belong to a model: without one there is nothing to find, and no reason to report.
      return search.query(input);
    },
  };
}
