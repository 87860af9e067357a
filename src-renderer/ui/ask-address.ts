/** Address of a new conversation about some documents or libraries. */
export function askAddress({ documentIds = [], libraryIds = [] }: Partial<AskedScope>): string {
  const query = new URLSearchParams([
    ...documentIds.map((id) => ['document', id]),
    ...libraryIds.map((id) => ['library', id]),
  ]);
  return `/?${query.toString()}`;
}

/** The scope in an address; undefined if it has none. */
export function askedScope(query: string): AskedScope | undefined {
  const params = new URLSearchParams(query);
  const scope = { documentIds: params.getAll('document'), libraryIds: params.getAll('library') };
  return scope.documentIds.length + scope.libraryIds.length > 0 ? scope : undefined;
}

interface AskedScope {
  documentIds: string[];
  libraryIds: string[];
}
