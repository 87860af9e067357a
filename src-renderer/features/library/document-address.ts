/** Where a document's page is; with a passage, it opens there. */
export function documentAddress(id: string, passage?: { start: number; end: number }): string {
  const query = passage ? `?start=${passage.start}&end=${passage.end}` : '';
  return `/document/${encodeURIComponent(id)}${query}`;
}
