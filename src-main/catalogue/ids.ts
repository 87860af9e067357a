import { KvasirError } from '../../src-shared/errors.ts';

/** The row that a contract's id names. NOT_FOUND when no row can have it. */
export function rowId(id: string, what: string): number {
  const row = Number(id);
  if (Number.isSafeInteger(row) && row > 0) return row;
  throw notFound(what);
}

export function notFound(what: string): KvasirError {
  return new KvasirError('NOT_FOUND', `This ${what} is not there any more.`);
}
