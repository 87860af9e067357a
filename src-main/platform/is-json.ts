import { parse, printParseErrorCode, type ParseError } from 'jsonc-parser';

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const WORDS = ['true', 'false', 'null', '-'];

/** Whether a text that was cut off can be the beginning of a JSON value: what is wrong with it is wrong at its end, and more could mend it. */
export function beginsJson(text: string): boolean {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true });
  const end = text.trimEnd().length;
  const names = errors.map(({ error }) => printParseErrorCode(error));
  return errors.every(({ offset, length }, i) => {
    if (offset + length < end || names[i] === 'CommaExpected' || names[i] === 'EndOfFileExpected')
      return false;
    if (names[i] !== 'InvalidSymbol') return true;
    const symbol = text.slice(offset, offset + length);
    return names.includes('ValueExpected') && WORDS.some((word) => word.startsWith(symbol));
  });
}
