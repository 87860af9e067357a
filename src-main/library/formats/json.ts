import { decode } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';

/** Deeper values are not indented further: the text would grow with the square of the depth. */
const MAX_INDENT = 32;
const NEW_LINES = Array.from({ length: MAX_INDENT + 1 }, (_, depth) => `\n${' '.repeat(depth)}`);
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/gs;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/gs;

/** Numbers stay as they are written: parsing them would change large integers and drop the zero of 1.10. */
export const json: DocumentParser = ({ bytes, name }) => {
  const { text, warnings } = decode(bytes, name);
  if (text.trim() === '') throw noText(name, 'the file is empty');
  const layout = text.trim().includes('\n') || !isJson(text) ? text : formatted(text);
  // Other letters than English ones are often escaped; nobody would find them so.
  const readable = layout.includes('\\') ? layout.replace(STRING, unescaped) : layout;
  return { text: readable, title: '', pages: [], warnings };
};

/** JSON without line ends is formatted; other JSON keeps its author's layout. */
function formatted(text: string): string {
  let depth = 0;
  let last = '';
  let whole = '';
  const newLine = (): string => NEW_LINES[Math.min(depth, MAX_INDENT)] ?? '';
  for (const token of text.match(TOKEN) ?? []) {
    const isEmpty = last === '{' || last === '[';
    if (token === '}' || token === ']') {
      depth--;
      if (!isEmpty) whole += newLine();
    } else if (isEmpty || last === ',') whole += newLine();
    if (token === '{' || token === '[') depth++;
    whole += token === ':' ? ': ' : token;
    last = token;
  }
  return whole;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A string with as few escapes as JSON allows. */
function unescaped(token: string): string {
  try {
    return JSON.stringify(JSON.parse(token));
  } catch {
    return token;
  }
}
