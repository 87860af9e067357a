/** The text of a URI's part; one that is not encoded correctly is used literally. */
export function decodedUri(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
