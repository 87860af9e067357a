import { decode } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { isJson } from '../../platform/is-json.ts';

/** Deeper values are not indented further: the text would grow with the square of the depth. */
const MAX_INDENT = 32;
const NEW_LINES = Array.from({ length: MAX_INDENT + 1 }, (_, depth) => `\n${' '.repeat(depth)}`);
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
  let whole = '';
  let from = 0;
  let isEmpty = false; // whether an object or list has just begun
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    const isEnd = sign === '}' || sign === ']';
    if (isEnd) depth--;
    if (sign <= ' ' || isEnd || isEmpty) {
      whole += text.slice(from, at);
      from = sign <= ' ' ? at + 1 : at;
    }
    if (sign <= ' ') continue;
    if (isEnd !== isEmpty) whole += newLine(depth);
    isEmpty = sign === '{' || sign === '[';
    if (isEmpty) depth++;
    else if (sign === '"') at = closingQuote(text, at);
    else if (sign === ',' || sign === ':') {
      whole += text.slice(from, at + 1) + (sign === ':' ? ' ' : newLine(depth));
      from = at + 1;
    }
  }
  return whole + text.slice(from);
}

function newLine(depth: number): string {
  return NEW_LINES[Math.min(depth, MAX_INDENT)] ?? '';
}

function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); ; at = text.indexOf('"', at + 1)) {
    let escape = at - 1;
    while (text[escape] === '\\') escape--;
    if ((at - escape) % 2 === 1) return at;
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
