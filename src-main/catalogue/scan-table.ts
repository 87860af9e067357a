import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Database } from '../platform/database.ts';

/** The recognised text of a page that is a picture. */
export interface Scan {
  text: string;
  /** Mean of its words, 0 to 100. */
  confidence: number;
  /** UTF-16 range in the text, and left, top, right and bottom in parts of 65,535 of the page. */
  words: readonly (readonly number[])[];
}

/** Pages that were recognised, so that a killed process goes on with the next, and a retry recognises nothing again. */
export class ScanTable {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  put(documentId: number, page: number, sha256: string, { text, confidence, words }: Scan): void {
    const sql = `INSERT OR REPLACE INTO scanned_page (document_id, page, sha256, text, confidence, words)
      VALUES (?, ?, ?, ?, ?, ?)`;
    const packed = deflateRawSync(JSON.stringify(words));
    this.#sql.run(sql, documentId, page, sha256, text, confidence, packed);
  }

  /** Of a version of the file, the pages that were recognised; from 0, in order. */
  pages(documentId: number, sha256: string): number[] {
    const query = 'SELECT page FROM scanned_page WHERE document_id = ? AND sha256 = ? ORDER BY page';
    return this.#sql.column(query, documentId, sha256);
  }

  of(documentId: number, sha256: string): Map<number, Omit<Scan, 'words'>> {
    const query = 'SELECT page, text, confidence FROM scanned_page WHERE document_id = ? AND sha256 = ?';
    const rows = this.#sql.all<Omit<Scan, 'words'> & { page: number }>(query, documentId, sha256);
    return new Map(rows.map(({ page, ...scan }) => [page, scan]));
  }

  words(documentId: number, sha256: string, page: number): Scan['words'] {
    const query = 'SELECT words FROM scanned_page WHERE document_id = ? AND sha256 = ? AND page = ?';
    const [packed] = this.#sql.column<Buffer>(query, documentId, sha256, page);
    return packed ? (JSON.parse(String(inflateRawSync(packed))) as Scan['words']) : [];
  }

  /** Removes those of other versions of the file. */
  removeOthers(documentId: number, sha256: string): void {
    this.#sql.run('DELETE FROM scanned_page WHERE document_id = ? AND sha256 <> ?', documentId, sha256);
  }
}
