import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function cacheHandlers({ cache, cacheFolders, archive }: App): HandlersOf<'cache'> {
  let archiving = new AbortController();
  return {
    'cache.stats': () => cache.stats(),
    'cache.entries': (query) => cache.entries(query),
    'cache.documents': (query) => cache.documents(query),
    'cache.folders': () => cacheFolders.list(),
    'cache.addFolder': (folder) => cacheFolders.add(folder),
    'cache.changeFolder': (changes) => cacheFolders.change(changes),
    'cache.removeFolder': (folder) => cacheFolders.remove(folder),
    'cache.pin': ({ selection, pinned }) => cache.pin(selection, pinned),
    'cache.evict': ({ selection }) => cache.evict(selection),
    'cache.verify': () => cache.verify(),
    'cache.export': ({ library, file }) => archive.export(library, file, archiving),
    'cache.import': ({ file }) => archive.import(file, archiving),
    'cache.stopArchive': () => {
      archiving.abort();
      archiving = new AbortController();
    },
  };
}
