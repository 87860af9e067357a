import type { DocumentPhase } from '../../src-shared/contract/libraries.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Passages } from './passages.ts';

/** Before these are over nothing is known of a document's text. */
const READING: readonly DocumentPhase[] = ['waiting', 'reading'];
/** Before this is over the model in use has no chunks of a document: each model has its own. */
const CUTTING: readonly DocumentPhase[] = ['chunking'];

/** Passages as the library's catalogue has them. */
export function libraryPassages(catalogue: Catalogue): Passages {
  return {
    chunk: (id) => catalogue.chunk(id),
    neighbours: (id) => catalogue.chunkTable.neighbours(id),
    document: (id) => catalogue.documents.get(id),
    unready: (libraryIds) => {
      const scopes = libraryIds.length > 0 ? libraryIds.map(Number) : [undefined];
      const counts = scopes.map((id) => catalogue.documents.phaseCounts(id));
      const of = (phases: readonly DocumentPhase[]): number =>
        counts
          .flatMap((count) => phases.map((phase) => count.get(phase) ?? 0))
          .reduce((sum, n) => sum + n, 0);
      return { reading: of(READING), uncut: of(CUTTING), paused: catalogue.state('paused') === 'true' };
    },
    pageLabel: (documentId, offset) => catalogue.pageLabel(documentId, offset),
  };
}
