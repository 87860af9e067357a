import type { SourceFile } from './format.ts';

/** More are no document. */
const MAX_PAGES = 1000;

/** The offsets of a TIFF file's pages (TIFF 6.0, section 2): each directory names the next. */
export function tiffPages({ bytes }: SourceFile): number[] {
  const little = bytes.toString('latin1', 0, 2) === 'II';
  const short = (at: number): number => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number): number => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const pages: number[] = [];
  try {
    for (let at = long(4); at > 0 && pages.length < MAX_PAGES && !pages.includes(at);) {
      pages.push(at);
      at = long(at + 2 + 12 * short(at));
    }
  } catch {
    // The file is cut off: the pages before are there.
  }
  return pages;
}

/** The file with another page as its first, which is the one that decoders read. */
export function tiffPage(file: SourceFile, page: number): Buffer {
  const bytes = Buffer.from(file.bytes);
  const at = tiffPages(file)[page] ?? 0;
  if (bytes.toString('latin1', 0, 2) === 'II') bytes.writeUInt32LE(at, 4);
  else bytes.writeUInt32BE(at, 4);
  return bytes;
}
