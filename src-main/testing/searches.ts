import { VectorTable } from '../catalogue/vector-table.ts';
import { WordTable } from '../catalogue/word-table.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Database } from '../platform/database.ts';
import type { SearchRunner } from '../retrieval/search-thread.ts';
import { Searcher } from '../retrieval/searcher.ts';

/** Runs searches on this thread: another one cannot read a database in memory. */
export function searchesOf(database: Database): SearchRunner {
  const searcher = new Searcher(new WordTable(database), new VectorTable(database));
  return {
    run: async (method, args, signal) => {
      throwIfAborted(signal);
      const work = searcher[method].bind(searcher) as (...given: typeof args) => never;
      return work(...args);
    },
  };
}
