import { createHash } from 'node:crypto';
import { KvasirError } from '../../src-shared/errors.ts';
import type { NamedModel } from '../answering/named-model.ts';
import type { TokensWithLead } from '../fusion/model.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

/** The model that answers, and its chunk settings. */
export interface AnalysisModel extends NamedModel {
  chunkTokens: number;
}

/** A document as chunked for a model. */
export interface AnalysedDocument {
  id: string;
  libraryId: string;
  path: string;
  title: string;
  /** Identifies the text, the model and the chunk size. */
  version: string;
  /** In reading order: ids and token counts. */
  chunkIds: number[];
  lengths: number[];
  chunk(index: number): TokensWithLead;
}

export interface Documents {
  /** NOT_FOUND once it is gone, CONFLICT before it has chunks for this model, or the failure that kept it from being read. */
  open(id: string, active: AnalysisModel): AnalysedDocument;
}

export function libraryDocuments(catalogue: Catalogue): Documents {
  const { documents, chunkTable } = catalogue;
  return {
    open(id, { model, chunkTokens }) {
      const document = documents.get(Number(id));
      if (!document) throw documentGone();
      const { failure, path, libraryId } = document;
      const title = document.title || path;
      if (document.phase === 'failed' && failure)
        throw new KvasirError(failure.code, failure.message, failure.advice);
      const { fingerprint } = model.info;
      const setId = chunkTable.findSet(libraryId, fingerprint, chunkTokens);
      const hash = setId === undefined ? undefined : chunkTable.chunkedHash(setId, document.id);
      if (setId === undefined || hash === undefined) throw notCut(title);
      const chunkIds = chunkTable.ids(setId, document.id);
      const all = chunkIds.map((chunkId) => chunkTable.tokens(chunkId) ?? { tokens: new Int32Array(0) });
      return {
        id,
        libraryId: String(libraryId),
        path,
        title,
        version: createHash('sha256')
          .update(`${hash}/${fingerprint}/${chunkTokens}/${all.length}`)
          .digest('hex'),
        chunkIds,
        lengths: all.map(({ tokens }) => tokens.length),
        chunk: (index) => all[index] ?? { tokens: new Int32Array(0) },
      };
    },
  };
}

function documentGone(): KvasirError {
  return new KvasirError(
    'NOT_FOUND',
    'This document is no longer in the library.',
    'Choose another document.',
  );
}

function notCut(title: string): KvasirError {
  const message = `“${title}” has no chunks for the model in use yet: it is still being read or chunked.`;
  return new KvasirError('CONFLICT', message, 'Wait until the library shows it as ready, then try again.');
}
