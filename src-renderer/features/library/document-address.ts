/** Address of a document's page. */
export function documentAddress(id: string): string {
  return `/document/${encodeURIComponent(id)}`;
}
