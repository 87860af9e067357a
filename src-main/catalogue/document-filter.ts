import { basename } from 'node:path';
import type { SearchFilters } from '../../src-shared/search-filters.ts';
import type { Database } from '../platform/database.ts';

const MATCHING = `SELECT d.id FROM document d JOIN library l ON l.id = d.library_id JOIN root r ON r.id = d.root_id
  WHERE (@kinds IS NULL OR lower(d.format) IN (SELECT value FROM json_each(@kinds)))
    AND (@afterMs IS NULL OR d.mtime_ms >= @afterMs) AND (@beforeMs IS NULL OR d.mtime_ms < @beforeMs)
    AND (@folders IS NULL OR kvasir_is_in(@folders, l.name, r.path, d.path) = 'yes')`;

/** Finds documents by folder, kind and date. */
export class DocumentFilter {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
    sql.define('kvasir_is_in', (folders = '[]', library = '', root = '', path = '') =>
      isIn(JSON.parse(folders) as string[], library, root, path) ? 'yes' : 'no',
    );
  }

  /** Ids of the documents that match every filter. */
  matching({ folders, kinds, afterMs, beforeMs }: SearchFilters): number[] {
    const listed = (values: readonly string[]): string | null =>
      values.length === 0 ? null : JSON.stringify(values);
    return this.#sql.column(MATCHING, { folders: listed(folders), kinds: listed(kinds), afterMs, beforeMs });
  }
}

/** Whether a document is in a library or below a folder with one of these names, which may be several folders deep. */
function isIn(folders: readonly string[], library: string, root: string, path: string): boolean {
  const lower = (text: string): string => text.normalize('NFC').toLowerCase();
  const below = lower(`/${basename(root.replaceAll('\\', '/'))}/${path}`);
  return folders.some((folder) => folder === lower(library) || below.includes(`/${folder}/`));
}
