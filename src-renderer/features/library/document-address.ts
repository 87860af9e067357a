/** Address of a document's page; with a passage, it opens at that passage. */
export function documentAddress(id: string, passage?: { start: number; end: number }): string {
  const query = passage ? `?start=${passage.start}&end=${passage.end}` : '';
  return `/document/${encodeURIComponent(id)}${query}`;
}
