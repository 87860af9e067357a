import { decode } from './decode.ts';
import { broken, noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { htmlToText } from './html/text.ts';
import { markdownTitle } from './titles.ts';

/** Parts of a Jupyter notebook (nbformat 4; nbformat 3 has the same under other names). Nothing is sure to have its type. */
type Json = Readonly<Record<string, unknown>>;

/** Cells in order: Markdown as it is, code in fences, and what the code printed. */
export const notebook: DocumentParser = ({ bytes, name }) => {
  const { text: source, warnings } = decode(bytes, name);
  if (source.trim() === '') throw noText(name, 'the file is empty');
  const book = objectOf(parsed(source, name));
  const cells = cellsOf(book);
  if (cells.length === 0 && !Array.isArray(book['cells']) && !Array.isArray(book['worksheets']))
    throw broken(name, 'it is not a Jupyter notebook');
  const metadata = objectOf(book['metadata']);
  const language =
    textOf(objectOf(metadata['language_info'])['name']) ||
    textOf(objectOf(metadata['kernelspec'])['language']);
  const pictures = { count: 0 };
  const parts = cells
    .flatMap((cell) => cellText(cell, language, pictures))
    .filter((part) => part.trim() !== '');
  const text = parts.join('\n\n');
  if (text === '') throw noText(name, 'its cells are empty or have only pictures');
  if (pictures.count > 0) warnings.push(`Pictures that the code made were not read: ${pictures.count}.`);
  return { text, title: textOf(metadata['title']) || markdownTitle(text), pages: [], warnings };
};

function parsed(source: string, name: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw broken(name, 'it is not a Jupyter notebook', error);
  }
}

function cellsOf(book: Json): Json[] {
  const sheets = listOf(book['worksheets']).map(objectOf);
  return [book, ...sheets].flatMap((part) => listOf(part['cells']).map(objectOf));
}

function cellText(cell: Json, language: string, pictures: { count: number }): string[] {
  const source = textOf(cell['source'] ?? cell['input']).replace(/\n+$/, '');
  switch (cell['cell_type']) {
    case 'code':
      return [
        fenced(source, textOf(cell['language']) || language),
        ...listOf(cell['outputs']).map((one) => outputText(objectOf(one), pictures)),
      ];
    case 'heading':
      return [`${'#'.repeat(Math.min(Math.max(Number(cell['level']) || 1, 1), 6))} ${source}`];
    default:
      return [source];
  }
}

/** The richest form of an output that is text. */
function outputText(output: Json, pictures: { count: number }): string {
  if (output['output_type'] === 'stream') return fenced(plain(textOf(output['text'])));
  if (output['traceback'] !== undefined) {
    const lines = listOf(output['traceback']).map(textOf).join('\n');
    return fenced(plain(lines) || `${textOf(output['ename'])}: ${textOf(output['evalue'])}`);
  }
  const data = { ...output, ...objectOf(output['data']) };
  const html = textOf(data['text/html'] ?? data['html']);
  const page = html === '' ? '' : htmlToText(html).text;
  if (page !== '') return page;
  const markdown = textOf(data['text/markdown'] ?? data['text/latex'] ?? data['latex']);
  if (markdown !== '') return markdown;
  const isPicture = Object.keys(data).some((type) => /^(?:image\/|png$|jpeg$|svg$)/.test(type));
  if (isPicture) pictures.count++;
  const text = plain(textOf(data['text/plain'] ?? data['text']));
  // The text beside a picture only names the object that drew it.
  return isPicture && /^<[^>]*>$/.test(text.trim()) ? '' : fenced(text);
}

function fenced(code: string, language = ''): string {
  if (code.trim() === '') return '';
  const longest = Math.max(
    2,
    ...[...code.matchAll(/^ {0,3}(`{3,})/gm)].map(([, marks = '']) => marks.length),
  );
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code.replace(/\n+$/, '')}\n${fence}`;
}

/** Without a terminal's colours (ECMA-48, 5.4), and with only the last state of a progress bar. */
function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '').replace(/^[^\n]*\r(?=[^\n])/gm, '');
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Notebooks hold text as a string or as a list of lines. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return listOf(value)
    .filter((line) => typeof line === 'string')
    .join('');
}
