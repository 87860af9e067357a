import { KvasirError } from '../../src-shared/errors.ts';

/** Names of the lists to go back to, by kind of item. */
const LISTS: Partial<Record<string, string>> = {
  conversation: 'conversations',
  message: 'conversations',
  analysis: 'analyses',
  step: 'analyses',
};

/** The row of a contract id. NOT_FOUND if no row can have it. */
export function rowId(id: string, what: string): number {
  if (/^\d{1,15}$/.test(id)) return Number(id);
  throw notFound(what);
}

/** A row's contract id. */
export function idText(row: number | null): string | null {
  return row === null ? null : String(row);
}

/** NOT_FOUND for an id without an item. */
export function notFound(what: string): KvasirError {
  const list = LISTS[what];
  const advice = list && `Go back to the list of ${list}.`;
  return new KvasirError('NOT_FOUND', `This ${what} does not exist.`, advice);
}
