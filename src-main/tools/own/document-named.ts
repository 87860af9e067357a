import type { Scope } from '../../../src-shared/contract/search.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { scopeOf } from '../../answering/library-passages.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DocumentRow } from '../../catalogue/document-table.ts';

/** Names told at most where one is wrong. */
const MOST_NAMES = 20;

/** The document in scope with this path, file name or title. NOT_FOUND with names that there are, BAD_ARGUMENT if several have it. */
export function documentNamed({ documents, libraries }: Catalogue, name: string, scope: Scope): DocumentRow {
  const { libraryIds, documentIds } = scopeOf(scope, libraries);
  const find = (called: string | null): DocumentRow[] =>
    documents.called(called, { libraryIds, documentIds, limit: MOST_NAMES });
  const [first, ...others] = find(name);
  if (!first) {
    const names = find(null).map(({ path }) => path);
    const advice = names.length === 0 ? 'There are no documents.' : `There are: ${names.join('; ')}.`;
    throw new KvasirError('NOT_FOUND', `There is no document called “${name}”.`, advice);
  }
  if (first.path === name || others.length === 0) return first;
  const paths = [first, ...others].map(({ path }) => path).join('; ');
  throw new KvasirError(
    'BAD_ARGUMENT',
    `Several documents are called “${name}”: ${paths}.`,
    'Use one of the paths.',
  );
}
