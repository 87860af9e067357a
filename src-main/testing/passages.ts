/** A library that is a list: each passage is found by any word of its own. */
import type { Passage, Passages, UnreadyDocuments } from '../answering/passages.ts';
import type { Retrieval } from '../retrieval/types.ts';
import type { FakeModel } from './fusion.ts';

interface ListedLibrary {
  all: Passage[];
  passages: Passages;
  retrieval: Retrieval;
  /** Ids of documents that were deleted since. */
  gone: Set<number>;
}

/** `texts`: by path, a document's passages in order. */
export function listedLibrary(
  model: FakeModel,
  texts: Readonly<Record<string, string | readonly string[]>>,
  unready: UnreadyDocuments = { reading: 0, uncut: 0, paused: false },
): ListedLibrary {
  let id = 0;
  const all = Object.entries(texts).flatMap(([path, text], document) =>
    [text].flat().map((each, ordinal): Passage => {
      const tokens = model.tokenize(`${each}\n\n`);
      id += 1;
      return { id, documentId: document + 10, libraryId: 1, path, ordinal, start: 0, end: each.length, title: path, text: each, tokens, lead: new Int32Array() }; // prettier-ignore
    }),
  );
  const gone = new Set<number>();
  const partsOf = (documentId: number): Passage[] => all.filter((each) => each.documentId === documentId);
  const tokensOf = (documentId: number): number =>
    partsOf(documentId).reduce((total, { tokens }) => total + tokens.length, 0);
  return {
    all,
    gone,
    passages: {
      chunk: (chunkId) => all.find((passage) => passage.id === chunkId),
      neighbours: (chunkId) => all.filter((each) => Math.abs(each.id - chunkId) === 1).map((each) => each.id),
      document: (documentId) =>
        gone.has(documentId) ? undefined : all.find((passage) => passage.documentId === documentId),
      unready: () => unready,
      readable: ({ documentIds }) => {
        const every = [...new Set(all.map(({ documentId }) => documentId))];
        const ids = (documentIds.length > 0 ? documentIds.map(Number) : every).filter(
          (each) => !gone.has(each),
        );
        const documents = ids.map((each) => ({
          id: each,
          path: partsOf(each)[0]?.path ?? '',
          tokens: tokensOf(each),
        }));
        const tokens = documents.reduce((sum, each) => sum + each.tokens, 0);
        return { documents, count: documents.length, tokens, isComplete: true };
      },
      passagesOf: (documentId) =>
        partsOf(documentId).map(({ id: chunkId, title, tokens }) => ({
          id: chunkId,
          title,
          tokens: tokens.length,
        })),
      tokensOf,
      pageLabel: (documentId) => (documentId === 10 ? '7' : null),
    },
    retrieval: {
      usualTopK: 6,
      find: async (question, { topK }) => {
        const words = wordsOf(question);
        const found = all.filter(({ text }) => wordsOf(text).some((word) => words.includes(word)));
        const chunks = found.slice(0, topK).map(({ id: chunkId, documentId, ordinal }, i) => ({
          chunkId,
          documentId,
          ordinal,
          score: 10 - i,
          reason: 'match' as const,
          fullText: null,
          vector: null,
          highlights: [{ start: 0, end: 4 }],
        }));
        return { chunks, matches: 1, ended: 'all' as const, usedVectors: false, newest: null, ms: 0 };
      },
    },
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\w+/g) ?? [];
}
