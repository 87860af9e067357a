/** Address of a new conversation about some documents or libraries. */
export function askAddress({ documentIds = [], libraryIds = [] }: Partial<QuestionScope>): string {
  const query = new URLSearchParams([
    ...documentIds.map((id) => ['document', id]),
    ...libraryIds.map((id) => ['library', id]),
  ]);
  return `/?${query.toString()}`;
}

/** The scope in an address; undefined if it has none. */
export function askedScope(query: string): QuestionScope | undefined {
  const params = new URLSearchParams(query);
  const scope = { documentIds: params.getAll('document'), libraryIds: params.getAll('library') };
  return scope.documentIds.length + scope.libraryIds.length > 0 ? scope : undefined;
}

interface QuestionScope {
  documentIds: string[];
  libraryIds: string[];
}
