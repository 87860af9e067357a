import { retrieve } from './retriever.ts';
import type { SearchIndex } from './search-index.ts';
import type { Retrieval } from './types.ts';

/** Passages from one index by their words alone, whatever the scope: for the command line, which has one library open. */
export function indexRetrieval(index: SearchIndex): Retrieval {
  return {
    find: (question, { topK }) => {
      const started = performance.now();
      const chunks = retrieve(index, question, topK).map((chunk) => ({ ...chunk, highlights: [] }));
      return Promise.resolve({ chunks, usedVectors: false, ms: performance.now() - started });
    },
  };
}
