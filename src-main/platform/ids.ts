import { KvasirError } from '../../src-shared/errors.ts';

/** The list in which what was looked for would stand. */
const LISTS: Partial<Record<string, string>> = {
  conversation: 'conversations',
  message: 'conversations',
  analysis: 'analyses',
  step: 'analyses',
};

/** The row that a contract's id names. NOT_FOUND when no row can have it. */
export function rowId(id: string, what: string): number {
  if (/^\d{1,15}$/.test(id)) return Number(id);
  throw notFound(what);
}

/** NOT_FOUND, of an id that names nothing any more. */
export function notFound(what: string): KvasirError {
  const list = LISTS[what];
  const advice = list && `Go back to the list of ${list}.`;
  return new KvasirError('NOT_FOUND', `This ${what} does not exist any more.`, advice);
}
