import { KvasirError } from '../../../../src-shared/errors.ts';
import { decode } from '../decode.ts';
import type { ParsedHeading } from '../format.ts';
import { decodePage } from '../html/encoding.ts';
import { htmlToText } from '../html/text.ts';
import type { XmlElement } from '../xml.ts';
import { chartText, diagramText } from './drawings.ts';
import type { OfficePackage, Relationship } from './package.ts';

interface Chunk {
  text: string;
  headings: readonly ParsedHeading[];
}

/** A part with text (body, header, notes) and what it draws in from other parts. */
export interface WordPart {
  root: XmlElement | undefined;
  /** Texts of charts and diagrams by relationship; '' for one without text. */
  drawings: ReadonlyMap<string, string>;
  /** Inserted documents by relationship; undefined for a kind that is not read. */
  chunks: ReadonlyMap<string, Chunk | undefined>;
}

/** Most of a part's elements only say how it looks; without them its tree takes half the memory. */
const FORMATTING = new Set(
  'b bCs i iCs u sz szCs lang color kern spacing ind jc shd highlight tabs pBdr tcBorders tcW tcMar proofErr lastRenderedPageBreak bookmarkStart bookmarkEnd keepNext keepLines widowControl contextualSpacing noProof cnfStyle rPrChange pPrChange'.split(
    ' ',
  ),
);

/** `readDocument`: reads an inserted Word document. */
export async function loadWordPart(
  pack: OfficePackage,
  path: string | undefined,
  readDocument: (bytes: Buffer) => Promise<Chunk>,
): Promise<WordPart> {
  const drawings = new Map<string, string>();
  const chunks = new Map<string, Chunk | undefined>();
  if (path === undefined) return { root: undefined, drawings, chunks };
  for (const [id, link] of await pack.relationships(path)) {
    if (link.type === 'chart' || link.type === 'chartEx')
      drawings.set(id, chartText(await partOf(pack, link)));
    if (link.type === 'diagramData') drawings.set(id, diagramText(await partOf(pack, link)));
    if (link.type === 'aFChunk') chunks.set(id, await readChunk(pack, link, readDocument));
  }
  return { root: await pack.xml(path, FORMATTING), drawings, chunks };
}

function partOf(pack: OfficePackage, { external, target }: Relationship): Promise<XmlElement | undefined> {
  return external ? Promise.resolve(undefined) : pack.xml(target);
}

/** An alternative format import part (ECMA-376 part 1, 11.3.1): a page, text or another document. */
async function readChunk(
  pack: OfficePackage,
  { external, target }: Relationship,
  readDocument: (bytes: Buffer) => Promise<Chunk>,
): Promise<Chunk | undefined> {
  const bytes = external ? undefined : await pack.read(target);
  if (bytes === undefined) return undefined;
  if (bytes.toString('latin1', 0, 2) === 'PK') return readDocument(bytes);
  if (bytes.toString('latin1', 0, 5) === '{\\rtf') return (await import('./rtf.ts')).readRtf(bytes);
  if (/\.x?html?$/i.test(target)) return htmlToText(decodePage(bytes, target).text);
  if (/\.mht(?:ml)?$/i.test(target)) return pageOf(bytes, target);
  if (/\.txt$/i.test(target)) return { text: decode(bytes, target).text.trim(), headings: [] };
  return undefined;
}

async function pageOf(bytes: Buffer, name: string): Promise<Chunk | undefined> {
  try {
    const { text, headings = [] } = await (await import('../mail.ts')).mhtml({ bytes, name });
    return { text, headings };
  } catch (error) {
    if (error instanceof KvasirError) return undefined;
    throw error;
  }
}
