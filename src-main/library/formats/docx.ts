import mammoth from 'mammoth';
import { broken, noText, reasonOf } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { htmlToText } from './html-text.ts';
import { plainTextTitle } from './titles.ts';
import { ZipArchive } from './zip.ts';

export const docx: DocumentParser = async (file) => {
  const zip = await ZipArchive.open(file);
  if (!zip.has('word/document.xml')) throw broken(file.name, 'it is not a Word document');
  await zip.check((path) => path.endsWith('.xml') || path.endsWith('.rels'));
  zip.close();
  const { text, headings } = htmlToText(await toHtml(file.bytes, file.name));
  if (text === '') throw noText(file.name, 'it has no paragraph with letters');
  const title = headings.find(({ level }) => level === 1)?.title ?? plainTextTitle(text);
  return { text, headings, title, pages: [], warnings: [] };
};

async function toHtml(buffer: Buffer, name: string): Promise<string> {
  try {
    const noImages = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
    const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"];
    return (await mammoth.convertToHtml({ buffer }, { convertImage: noImages, styleMap })).value;
  } catch (error) {
    throw broken(name, `it is damaged or not a Word document (${reasonOf(error)})`, error);
  }
}
