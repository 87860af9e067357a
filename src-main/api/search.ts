import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';
import type { ModelSource } from '../models/active-model.ts';

export function searchHandlers({
  loader,
  search,
}: Pick<App, 'search'> & { loader: Pick<ModelSource, 'current'> }): HandlersOf<'search'> {
  const running = new Map<string, AbortController>();
  return {
    'search.query': async ({ field, ...asked }) => {
      const controller = new AbortController();
      if (field !== undefined) {
        running.get(field)?.abort(); // the person has typed on
        running.set(field, controller);
      }
      try {
        await loader.current(); // Chunks belong to a model: without one there is nothing to find, and no reason to report.
        return await search.query(asked, controller.signal);
      } finally {
        if (field !== undefined && running.get(field) === controller) running.delete(field);
      }
    },
  };
}
