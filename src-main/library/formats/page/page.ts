import type { SourceFile } from '../format.ts';
import { parseHtml } from '../html/nodes.ts';
import { markPassage, type Passage } from './mark-passage.ts';
import { inlinePictures } from './pictures.ts';
import { safeHtml } from './safe-html.ts';

/** A document, or a part of it, as HTML that nobody has checked yet. */
export interface PageSource {
  html: string;
  xhtml?: boolean;
  /** The picture that the HTML means by an address; absent: only those in the HTML itself. */
  picture?: (address: string) => Promise<Uint8Array | undefined>;
}

/** Makes the HTML of one kind of document. `part`: a chapter or message, from 0. Errors as DocumentParser. */
export type PageMaker = (file: SourceFile, part: number) => Promise<PageSource> | PageSource;

export interface PageView {
  /** Safe content of a body; the passage is in elements `mark`, the first with the id `passage`. */
  html: string;
  isMarked: boolean;
  /** Whether the end is left out, because it is too long. */
  isCut: boolean;
}

/** A document as a page that can be shown. */
export async function viewPage(
  make: PageMaker,
  file: SourceFile,
  part: number,
  passage: Passage | undefined,
): Promise<PageView> {
  const { html, xhtml = false, picture } = await make(file, part);
  const root = parseHtml(html, xhtml);
  if (picture) await inlinePictures(root, picture);
  const { pieces, isCut } = safeHtml(root);
  return { ...markPassage(pieces, passage), isCut };
}
