import type { Failure } from '../../src-shared/contract/common.ts';
import type { DocumentInfo } from '../../src-shared/contract/libraries.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { Database } from '../platform/database.ts';
import type { ChunkSetKey } from './chunk-table.ts';

/** The model and chunk size whose chunks are counted. */
type Target = Pick<ChunkSetKey, 'fingerprint' | 'chunkTokens'>;

type ListInput = ParsedInputOf<'documents.list'>;

interface InfoRow extends Omit<DocumentInfo, 'id' | 'libraryId' | 'failure' | 'warnings' | 'pages'> {
  id: number;
  libraryId: number;
  failure: string | null;
  warnings: string;
  pages: number;
}

const JOIN_CHUNKING = `LEFT JOIN chunk_set s ON s.library_id = d.library_id AND s.fingerprint = ? AND s.chunk_tokens = ?
  LEFT JOIN chunking k ON k.chunk_set_id = s.id AND k.document_id = d.id`;

const SELECT = `SELECT d.id, d.library_id AS libraryId, d.path, d.title, d.format, d.bytes, d.mtime_ms AS modifiedMs, d.address,
  d.fetched_ms AS fetchedMs, d.phase,
  d.failure, d.warnings, json_array_length(d.pages) AS pages, coalesce(k.tokens, 0) AS tokens,
  coalesce(k.chunks, 0) AS chunks, coalesce(k.cached_chunks, 0) AS cachedChunks, coalesce(k.cached_bytes, 0) AS cacheBytes
  FROM document d ${JOIN_CHUNKING}`;

const SORT: Record<ListInput['sort'], string> = {
  path: 'd.path',
  title: 'd.title COLLATE NOCASE',
  modified: 'd.mtime_ms',
  bytes: 'd.bytes',
  tokens: 'coalesce(k.tokens, 0)',
};

const PHASES: Record<ListInput['phase'], string> = {
  all: '',
  ready: "AND d.phase = 'ready'",
  failed: "AND d.phase = 'failed'",
  working: "AND d.phase NOT IN ('ready', 'failed')",
};

export class DocumentList {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  page(input: ListInput, target: Target | undefined): { total: number; items: DocumentInfo[] } {
    const patterns = searchPatterns(input.search);
    const where = `WHERE ${
      input.libraryId === undefined
        ? 'd.library_id NOT IN (SELECT id FROM library WHERE doomed)'
        : 'd.library_id = ?'
    } ${PHASES[input.phase]} ${
      patterns.length === 0
        ? ''
        : `AND (${patterns.map(() => "d.path LIKE ? ESCAPE '\\' OR d.title LIKE ? ESCAPE '\\'").join(' OR ')})`
    }`;
    const library = input.libraryId === undefined ? [] : [Number(input.libraryId)];
    const values = [...library, ...patterns.flatMap((pattern) => [pattern, pattern])];
    const total = this.#sql.value<number>(`SELECT count(*) FROM document d ${where}`, ...values) ?? 0;
    const order = `ORDER BY ${SORT[input.sort]} ${input.descending ? 'DESC' : 'ASC'}, d.id`;
    // Positions first, rows afterwards: sorting whole rows would take long in a large library.
    const join = input.sort === 'tokens' ? JOIN_CHUNKING : '';
    const ids = this.#sql.column<number>(
      `SELECT d.id FROM document d ${join} ${where} ${order} LIMIT ? OFFSET ?`,
      ...(join === '' ? [] : setOf(target)),
      ...values,
      input.limit,
      input.offset,
    );
    const rows = this.#sql.all<InfoRow>(
      `${SELECT} WHERE d.id IN (SELECT value FROM json_each(?)) ${order}`,
      ...setOf(target),
      JSON.stringify(ids),
    );
    return { total, items: rows.map(toInfo) };
  }

  get(id: number, target: Target | undefined): DocumentInfo | undefined {
    const row = this.#sql.get<InfoRow>(`${SELECT} WHERE d.id = ?`, ...setOf(target), id);
    return row && toInfo(row);
  }
}

/** A disk's names may have accents as part of letters (NFC) or behind them (NFD, as macOS used to): either spelling finds both. */
function searchPatterns(search: string): string[] {
  if (search === '') return [];
  const spellings = new Set([search, search.normalize('NFC'), search.normalize('NFD')]);
  return [...spellings].map((spelling) => `%${spelling.replace(/[\\%_]/g, '\\$&')}%`);
}

function setOf(target: Target | undefined): [string, number] {
  return [target?.fingerprint ?? '', target?.chunkTokens ?? 0];
}

function toInfo(row: InfoRow): DocumentInfo {
  return {
    ...row,
    id: String(row.id),
    // A catalogue may come from somebody else's backup, and windows link to the address.
    address: /^https?:\/\//.test(row.address ?? '') ? row.address : null,
    libraryId: String(row.libraryId),
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
    warnings: JSON.parse(row.warnings) as string[],
    pages: row.pages === 0 ? null : row.pages,
  };
}
