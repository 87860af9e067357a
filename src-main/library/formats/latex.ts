import { decode } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { LatexReader } from './latex/reader.ts';
import { markdownTitle } from './titles.ts';

/** The words of a LaTeX document, with Markdown's marks for headings, lists and code. Formulas stay LaTeX. */
export const latex: DocumentParser = ({ bytes, name }) => {
  const { text: source, warnings } = decode(bytes, name);
  const [preamble, body] = partsOf(source);
  const reader = new LatexReader(body);
  reader.read(preamble); // for its fields and the commands that it defines
  reader.pictures = 0;
  reader.included.length = 0;
  const words = tidy(reader.read(body));
  const { title = '', author = '', date = '' } = reader.fields;
  const text = [title === '' ? '' : `# ${title}`, author, date, words].filter(Boolean).join('\n\n');
  if (text === '') throw noText(name, source.trim() === '' ? 'the file is empty' : 'it has only commands');
  if (reader.pictures > 0) warnings.push(`Pictures were not read: ${reader.pictures}.`);
  if (reader.included.length > 0)
    warnings.push(`Files that it includes were not read with it: ${reader.included.slice(0, 5).join(', ')}.`);
  return { text, title: title || markdownTitle(text), pages: [], warnings };
};

/** What is before the document's text, and the text. A chapter of a book about LaTeX has whole documents among its examples. */
function partsOf(source: string): [preamble: string, body: string] {
  const [, preamble = '', body = source] =
    /^([\s\S]*?)\\begin\{document\}([\s\S]*?)(?:\\end\{document\}|$)/.exec(source) ?? [];
  return /^[ \t]*\\(?:chapter|section)\*?\{/m.test(preamble) ? ['', source] : [preamble, body];
}

/** Runs of spaces are one, except in code and at the beginning of a line. */
function tidy(text: string): string {
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, i) =>
      i % 2 === 1
        ? part
        : part.replace(/(?<=\S) {2,}(?=\S)| +$|^ (?=[^ ])/gm, (run) => (run.length > 1 ? ' ' : '')),
    )
    .join('')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
