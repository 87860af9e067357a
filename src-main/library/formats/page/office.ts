import { docx } from '../office/docx.ts';
import { officeParser } from '../office.ts';
import { broken, reasonOf } from '../errors.ts';
import { html, htmlPage } from '../html.ts';
import type { PageMaker } from './page.ts';
import { readingPage } from './reading.ts';

/** Word's newer documents as mammoth converts them: with pictures, emphasis and merged cells, which the reading leaves out. */
export const officePage: PageMaker = async (file, part) => {
  const parser = await officeParser(file);
  if (parser === html) return htmlPage(file, part);
  if (parser !== docx) return readingPage(parser)(file, part);
  const { default: mammoth } = await import('mammoth');
  try {
    const { value } = await mammoth.convertToHtml(
      { buffer: file.bytes },
      { styleMap: ['u => u', 'strike => s'] },
    );
    return { html: value };
  } catch (error) {
    throw broken(file.name, `it is damaged (${reasonOf(error)})`, error);
  }
};
