/** A column of a table that can be queried. */
export interface TableColumn {
  name: string;
  /** number: without units; date: as 2026-03-19. */
  type: 'number' | 'date' | 'text';
  /** What stands beside its numbers in the document. */
  unit: string | null;
  /** Filled cells without a value of the type: they count as empty. */
  unread: number;
  examples: string[];
  /** Whether the examples are all of its different texts. */
  isComplete: boolean;
}

/** A table of a document, as SQLite gets it. */
export interface TableInfo {
  name: string;
  /** The sheet that it is part of; '' where a file is one table. */
  sheet: string;
  rows: number;
  /** Rows with sums of others, which are no rows of the table. */
  totalsLeftOut: number;
  columns: TableColumn[];
}

/** What a statement returned. */
export interface QueryResult {
  columns: string[];
  rows: (string | number | null)[][];
  /** Whether there were more rows or longer texts than are told. */
  truncated: boolean;
}

const SOURCE = /\b(?:from|join)\s+(?:"([^"]+)"|\[([^\]]+)\]|`([^`]+)`|([^\s,;()"[`]+))/gi;

/** The tables that a statement names after FROM or JOIN. */
export function tablesIn(sql: string, tables: readonly TableInfo[]): TableInfo[] {
  const named = new Set(
    [...sql.matchAll(SOURCE)].map((match) => match.slice(1).find(Boolean)?.toLowerCase()),
  );
  return tables.filter(({ name }) => named.has(name.toLowerCase()));
}
