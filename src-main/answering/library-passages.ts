import type { Scope } from '../../src-shared/contract/search.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { CHUNK_SEPARATOR } from '../catalogue/chunk-table.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { ModelSource } from '../models/active-model.ts';
import { activeChunkSets } from '../retrieval/active-sets.ts';
import type { ChunkSets } from '../retrieval/types.ts';
import type { Passage, Passages } from './passages.ts';
import { wordsOfQuestion } from './waiting-documents.ts';

/** Documents not yet ready whose names are compared with a question: the newest. */
const NAMES = 2000;

/** Passages from the library's catalogue, with the tokens of the model in use. */
export function libraryPassages(catalogue: Catalogue, models: Pick<ModelSource, 'active'>): Passages {
  const { documents, libraries, chunkTable } = catalogue;
  return {
    chunk(id) {
      const passage = catalogue.chunk(id);
      const model = models.active?.model;
      if (!passage || !model || chunkTable.modelOf(id) === model.info.fingerprint) return passage;
      return standIn(passage, model);
    },
    neighbours: (id) => chunkTable.neighbours(id),
    document: (id) => documents.get(id),
    unready(scope, question) {
      const { libraryIds, documentIds } = scopeOf(scope, libraries);
      const { reading, uncut, names } = documents.notFound(libraryIds, documentIds, NAMES);
      const inName = wordsOfQuestion(question);
      const matching = names
        .map((path) => ({ path, words: inName(path) }))
        .filter(({ words }) => words.length > 0)
        .sort((a, b) => b.words.length - a.words.length);
      return { reading, uncut, matching, paused: catalogue.state('paused') === 'true' };
    },
    whole: (documentIds, tokens) =>
      wholeIds(catalogue, activeChunkSets(catalogue, models), documentIds, tokens),
    pageLabel: (documentId, offset) => catalogue.pageLabel(documentId, offset),
  };
}

/** A passage that was chunked for another model: its text in the tokens of this one, which match no stored KV. */
function standIn(passage: Passage, model: Pick<FusionModel, 'tokenize'>): Passage {
  const tokens = model.tokenize(passage.text + CHUNK_SEPARATOR);
  return { ...passage, tokens, lead: new Int32Array(), standsIn: true };
}

/** The scope of questions: see SearchService. */
function scopeOf({ libraryIds, documentIds }: Scope, libraries: Catalogue['libraries']): Scope {
  return { libraryIds: documentIds.length > 0 ? libraryIds : libraries.asked(libraryIds), documentIds };
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
