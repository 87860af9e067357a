import type { Handlers, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function cacheHandlers({ cache }: App): Pick<Handlers, Extract<ProcedureName, `cache.${string}`>> {
  return {
    'cache.stats': () => cache.stats(),
    'cache.entries': (query) => cache.entries(query),
    'cache.documents': (query) => cache.documents(query),
    'cache.pin': ({ selection, pinned }) => cache.pin(selection, pinned),
    'cache.evict': ({ selection }) => cache.evict(selection),
    'cache.verify': () => cache.verify(),
  };
}
