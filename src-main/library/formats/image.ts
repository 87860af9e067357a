import { broken } from './errors.ts';
import type { DocumentParser, SourceFile } from './format.ts';
import { tiffPages } from './tiff.ts';

/** Pictures of pages: their text is to be recognised. */
export const image: DocumentParser = (file) => {
  const kind = imageKind(file);
  if (kind === undefined) throw broken(file.name, 'it is damaged or not a picture');
  const count = kind === 'tiff' ? tiffPages(file).length : 1;
  if (count === 0) throw broken(file.name, 'it is cut off');
  const pages = Array.from({ length: count }, (_, i) => ({
    label: String(i + 1),
    start: 0,
    end: 0,
    confidence: null,
  }));
  return { text: '', title: '', headings: [], pages, warnings: [] };
};

/** By its first bytes: cameras and programs give files the wrong names. */
export function imageKind({ bytes }: SourceFile): 'tiff' | 'heif' | 'other' | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (/^(?:II\*\0|MM\0\*)/.test(head)) return 'tiff';
  if (/^....ftyp/s.test(head)) return 'heif';
  return /^(?:\x89PNG|\xff\xd8\xff|RIFF....WEBP)/s.test(head) ? 'other' : undefined;
}
