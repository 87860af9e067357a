import type { Failure } from '../../../src-shared/contract/common.ts';
import type { QueryResult, TableInfo } from '../../../src-shared/tables.ts';

/** One statement over tables; the process that answers it ends. */
export interface QueryRequest {
  sql: string;
  tables: readonly TableInfo[];
  /** JSON: the rows of each table. */
  rows: string;
}

export type QueryReply = { result: QueryResult } | { failure: Failure };
