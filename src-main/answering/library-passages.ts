import type { DocumentPhase } from '../../src-shared/contract/libraries.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Passages } from './passages.ts';

/** Before these are over nothing is known of a document's text; cutting it takes no time. */
const UNREAD: readonly DocumentPhase[] = ['waiting', 'reading'];

/** Passages as the library's catalogue has them. */
export function libraryPassages(catalogue: Catalogue): Passages {
  return {
    chunk: (id) => catalogue.chunk(id),
    neighbours: (id) => catalogue.chunkTable.neighbours(id),
    document: (id) => catalogue.documents.get(id),
    unread: (libraryIds) => {
      const scopes = libraryIds.length > 0 ? libraryIds.map(Number) : [undefined];
      const counts = scopes.map((id) => catalogue.documents.phaseCounts(id));
      return counts
        .flatMap((count) => UNREAD.map((phase) => count.get(phase) ?? 0))
        .reduce((sum, count) => sum + count, 0);
    },
    pageLabel: (documentId, offset) => catalogue.pageLabel(documentId, offset),
  };
}
