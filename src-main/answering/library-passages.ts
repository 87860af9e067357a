import type { Scope } from '../../src-shared/contract/search.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { CHUNK_SEPARATOR } from '../catalogue/chunk-table.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { ModelSource } from '../models/active-model.ts';
import { activeChunkSets } from '../retrieval/active-sets.ts';
import type { ChunkSets } from '../retrieval/types.ts';
import type { Passage, Passages, ReadableDocuments } from './passages.ts';
import { wordsOfQuestion } from './waiting-documents.ts';

/** Documents not yet ready whose names are compared with a question: the newest. */
const NAMES = 2000;

/** Documents listed of a scope: the openings of more fit no context. */
const LISTED = 500;

/** Passages from the library's catalogue, with the tokens of the model in use. */
export function libraryPassages(catalogue: Catalogue, models: Pick<ModelSource, 'active'>): Passages {
  const { documents, libraries, chunkTable } = catalogue;
  const sets = activeChunkSets(catalogue, models);
  const setOfDocument = (documentId: number): number | undefined => {
    const document = documents.get(documentId);
    return document && setOf(document, chunkTable, sets);
  };
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
    readable: (scope) => readable(catalogue, sets, scope),
    passagesOf(documentId) {
      const setId = setOfDocument(documentId);
      return setId === undefined ? [] : chunkTable.sizes(setId, documentId);
    },
    tokensOf(documentId) {
      const setId = setOfDocument(documentId);
      return setId === undefined ? undefined : chunkTable.counts(setId, documentId).tokens;
    },
    pageLabel: (documentId, offset) => catalogue.pageLabel(documentId, offset),
  };
}

/** A passage that was chunked for another model: its text in the tokens of this one, which match no stored KV. */
function standIn(passage: Passage, model: Pick<FusionModel, 'tokenize'>): Passage {
  const tokens = model.tokenize(passage.text + CHUNK_SEPARATOR);
  return { ...passage, tokens, lead: new Int32Array(), standsIn: true };
}

/** The scope of questions: see SearchService. */
export function scopeOf({ libraryIds, documentIds }: Scope, libraries: Catalogue['libraries']): Scope {
  return { libraryIds: documentIds.length > 0 ? libraryIds : libraries.asked(libraryIds), documentIds };
}

function readable(
  { documents, libraries, chunkTable }: Catalogue,
  sets: Pick<ChunkSets, 'chunkSets'>,
  scope: Scope,
): ReadableDocuments {
  const { libraryIds, documentIds } = scopeOf(scope, libraries);
  if (documentIds.length === 0)
    return { ...chunkTable.chunked(sets.chunkSets(libraryIds), LISTED), isComplete: true };
  const chosen = documentIds.flatMap((id) => documents.get(Number(id)) ?? []);
  const withText = chosen.filter(({ phase }) => phase !== 'failed');
  const chunked = withText.flatMap(({ id, path, libraryId }) => {
    const setId = setOf({ id, libraryId }, chunkTable, sets);
    return setId === undefined ? [] : [{ id, path, tokens: chunkTable.counts(setId, id).tokens }];
  });
  const tokens = chunked.reduce((sum, each) => sum + each.tokens, 0);
  const isComplete = chunked.length === withText.length;
  return { documents: chunked, count: chunked.length, tokens, isComplete };
}

/** The set in use that has all chunks of a document. */
function setOf(
  { id, libraryId }: { id: number; libraryId: number },
  chunkTable: Catalogue['chunkTable'],
  sets: Pick<ChunkSets, 'chunkSets'>,
): number | undefined {
  const [setId] = sets.chunkSets([String(libraryId)]);
  return setId !== undefined && chunkTable.chunkedHash(setId, id) !== undefined ? setId : undefined;
}
