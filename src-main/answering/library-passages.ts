import type { DocumentPhase } from '../../src-shared/contract/libraries.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ChunkSets } from '../retrieval/types.ts';
import type { Passages } from './passages.ts';

/** Before these are over nothing is known of a document's text. */
const READING: readonly DocumentPhase[] = ['waiting', 'reading'];
/** Before this is over the model in use has no chunks of a document: each model has its own. */
const CUTTING: readonly DocumentPhase[] = ['chunking'];

/** Passages as the library's catalogue has them; `sets`: those of the model in use. */
export function libraryPassages(catalogue: Catalogue, sets?: Pick<ChunkSets, 'chunkSets'>): Passages {
  return {
    chunk: (id) => catalogue.chunk(id),
    neighbours: (id) => catalogue.chunkTable.neighbours(id),
    document: (id) => catalogue.documents.get(id),
    unready: (libraryIds, documentIds = []) => {
      const phases =
        documentIds.length > 0 ? phasesOf(catalogue, documentIds) : phasesIn(catalogue, libraryIds);
      const of = (some: readonly DocumentPhase[]): number =>
        phases.reduce((sum, [phase, n]) => sum + (some.includes(phase) ? n : 0), 0);
      return { reading: of(READING), uncut: of(CUTTING), paused: catalogue.state('paused') === 'true' };
    },
    whole: (documentIds, tokens) => sets && wholeIds(catalogue, sets, documentIds, tokens),
    pageLabel: (documentId, offset) => catalogue.pageLabel(documentId, offset),
  };
}

type PhaseCount = readonly [DocumentPhase, number];

function phasesIn({ documents }: Catalogue, libraryIds: readonly string[]): PhaseCount[] {
  const scopes = libraryIds.length > 0 ? libraryIds.map(Number) : [undefined];
  return scopes.flatMap((id) => [...documents.phaseCounts(id)]);
}

function phasesOf({ documents }: Catalogue, documentIds: readonly string[]): PhaseCount[] {
  return documentIds.flatMap((id) => {
    const document = documents.get(Number(id));
    return document ? [[document.phase, 1] as const] : [];
  });
}

function wholeIds(
  { documents, chunkTable }: Catalogue,
  sets: Pick<ChunkSets, 'chunkSets'>,
  documentIds: readonly string[],
  tokens: number,
): number[] | undefined {
  const found: number[] = [];
  let left = tokens;
  for (const id of documentIds.map(Number)) {
    const document = documents.get(id);
    if (!document || document.phase === 'failed') continue; // it was removed, or has no text
    const [setId] = sets.chunkSets([String(document.libraryId)]);
    if (setId === undefined || chunkTable.chunkedHash(setId, id) === undefined) return undefined;
    left -= chunkTable.counts(setId, id).tokens;
    if (left < 0) return undefined;
    found.push(...chunkTable.ids(setId, id));
  }
  return found.length > 0 ? found : undefined;
}
