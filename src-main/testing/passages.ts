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
  return {
    all,
    gone,
    passages: {
      chunk: (chunkId) => all.find((passage) => passage.id === chunkId),
      neighbours: (chunkId) => all.filter((each) => Math.abs(each.id - chunkId) === 1).map((each) => each.id),
      document: (documentId) =>
        gone.has(documentId) ? undefined : all.find((passage) => passage.documentId === documentId),
      unready: () => unready,
      whole: (documentIds, tokens) => {
        const living = documentIds.map(Number).filter((documentId) => !gone.has(documentId));
        const of = living.flatMap((documentId) => all.filter((passage) => passage.documentId === documentId));
        const sum = of.reduce((total, { tokens: own }) => total + own.length, 0);
        return of.length > 0 && sum <= tokens ? of.map(({ id: chunkId }) => chunkId) : undefined;
      },
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
        return { chunks, matches: 1, ended: 'all' as const, usedVectors: false, ms: 0 };
      },
    },
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\w+/g) ?? [];
}
