/** Where a new conversation about some documents, or some libraries, begins. */
export function askAddress({ documentIds = [], libraryIds = [] }: Partial<AskedScope>): string {
  const query = new URLSearchParams([
    ...documentIds.map((id) => ['document', id]),
    ...libraryIds.map((id) => ['library', id]),
  ]);
  return `/?${query.toString()}`;
}

/** What an address says to ask about; undefined where it says nothing of it. */
export function askedScope(query: string): AskedScope | undefined {
  const params = new URLSearchParams(query);
  const scope = { documentIds: params.getAll('document'), libraryIds: params.getAll('library') };
  return scope.documentIds.length + scope.libraryIds.length > 0 ? scope : undefined;
}

interface AskedScope {
  documentIds: string[];
  libraryIds: string[];
}
