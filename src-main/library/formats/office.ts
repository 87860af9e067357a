import { broken, encrypted, noText } from './errors.ts';
import type { DocumentParser, SourceFile } from './format.ts';
import { COMPOUND_MAGIC, compoundStreams } from './office/compound.ts';
import { decodeXml, OfficePackage } from './office/package.ts';

/** Where a part's root element is looked for. */
const HEAD_BYTES = 8192;

/** Kinds of older programs, by their first bytes in hexadecimal. */
const UNREAD: readonly (readonly [start: RegExp, what: string])[] = [
  [/^(?:9ba5|dba5|dca5|31be|32be|fe3[247])/, 'it is of a version of Word before 1997'],
  [/^ff575043/, 'it is a document of WordPerfect'],
];

/** Office documents of every age. They are told apart by their bytes: many have the extension of another kind. */
export const office: DocumentParser = async (file) => (await officeParser(file))(file);

export async function officeParser(file: SourceFile): Promise<DocumentParser> {
  const head = file.bytes.toString('latin1', 0, 1024).replace(/^(\u00ef\u00bb\u00bf)?\s*/, '');
  if (file.bytes.length === 0) throw noText(file.name, 'the file is empty');
  const start = file.bytes.toString('hex', 0, 8);
  if (start === COMPOUND_MAGIC) return compoundParser(file);
  if (head.startsWith('{\\rt')) return (await import('./office/rtf.ts')).rtf;
  if (/^(<\?xml|<office:document)/.test(head) && /<office:document\s/.test(head))
    return (await import('./office/odf.ts')).odf;
  if (/<(?:w:wordDocument|pkg:package)\s/.test(head)) return (await import('./office/flat-word.ts')).flatWord;
  if (/^<(!doctype html|html|\?xml[^>]*>\s*<(!doctype )?html)/i.test(head))
    return (await import('./html.ts')).html;
  if (/^(?:mime-version:|from: <saved by|content-type: multipart\/related)/i.test(head))
    return (await import('./mail.ts')).mhtml;
  if (head.startsWith('%PDF')) return (await import('./pdf.ts')).pdf;
  const isText = /\.do[ct]$/i.test(file.name) && !file.bytes.subarray(0, HEAD_BYTES).includes(0);
  if (isText) return (await import('./text.ts')).plainText;
  const unread = UNREAD.find(([magic]) => magic.test(start));
  if (unread) throw broken(file.name, unread[1]);
  return archiveParser(file);
}

async function archiveParser(file: SourceFile): Promise<DocumentParser> {
  const pack = await OfficePackage.open(file);
  if (pack.has('content.xml')) return (await import('./office/odf.ts')).odf;
  if (pack.has('Index.zip') || pack.has('Index/Document.iwa') || pack.has('QuickLook/Preview.pdf'))
    return (await import('./office/iwork.ts')).iwork;
  const main = await pack.mainPart();
  const head = decodeXml((await pack.read(main))?.subarray(0, HEAD_BYTES) ?? Buffer.alloc(0));
  const [, root] = /<(?:\w+:)?(presentation|document)[\s>]/.exec(head) ?? [];
  if (root === 'presentation') return (await import('./office/pptx.ts')).pptx;
  return (await import('./office/docx.ts')).docx;
}

/** A document from before 2007, or a newer one with a password ([MS-OFFCRYPTO] 2.3.4.4). */
async function compoundParser({ name, bytes }: SourceFile): Promise<DocumentParser> {
  const streams = compoundStreams(bytes);
  // Word adds a document of 1997 that says so.
  if (streams?.has('encryptedpackage') === true && /\.\w{3}[xm]$/i.test(name)) throw encrypted(name);
  // Streams of embedded documents come after its own.
  const main = [...(streams?.keys() ?? [])].find(
    (name) => name === 'powerpoint document' || name === 'worddocument',
  );
  if (main === 'powerpoint document') return (await import('./office/ppt.ts')).ppt;
  if (main === 'worddocument') return (await import('./office/doc.ts')).doc;
  // What has a newer kind's name and is none of the old ones has a password, even if its directory is damaged.
  if (streams?.has('encryptedpackage') === true || /\.\w{3}[xm]$/i.test(name)) throw encrypted(name);
  throw broken(name, streams ? 'it is not a document of Word or PowerPoint' : 'its archive is damaged');
}
