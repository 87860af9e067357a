/** Greek letters in the places that the font Symbol gives them, from 0x41 and 0x61. */
const GREEK_UPPER = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const GREEK_LOWER = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';

const SYMBOL: Readonly<Record<number, string>> = {
  0x2d: '−',
  0xa3: '≤',
  0xa5: '∞',
  0xae: '→',
  0xac: '←',
  0xb0: '°',
  0xb1: '±',
  0xb3: '≥',
  0xb4: '×',
  0xb6: '∂',
  0xb7: '•',
  0xb8: '÷',
  0xb9: '≠',
  0xba: '≡',
  0xbb: '≈',
  0xc7: '∩',
  0xc8: '∪',
  0xce: '∈',
  0xd1: '∇',
  0xd6: '√',
  0xd7: '⋅',
  0xde: '⇒',
  0xe5: '∑',
  0xf2: '∫',
};

const WINGDINGS: Readonly<Record<number, string>> = {
  0x28: '☎',
  0x2a: '✉',
  0x4a: '☺',
  0x4c: '☹',
  0x6c: '●',
  0x6e: '■',
  0x6f: '☐',
  0x71: '☐',
  0x72: '☐',
  0x76: '❖',
  0xa1: '○',
  0xa7: '▪',
  0xa8: '☐',
  0xab: '★',
  0xd8: '➢',
  0xdf: '←',
  0xe0: '→',
  0xe8: '→',
  0xf0: '⇨',
  0xfb: '✗',
  0xfc: '✓',
  0xfd: '☒',
  0xfe: '☑',
};

const WINGDINGS_2: Readonly<Record<number, string>> = {
  0x4f: '✗',
  0x50: '✓',
  0x51: '☒',
  0x52: '☑',
  0x53: '☒',
  0x54: '☒',
  0x2a: '☐',
  0xa3: '☐',
  0x98: '●',
};

/** A character of a font whose letters are pictures, as one of Unicode; undefined if there is none here. */
export function symbolOf(font: string, code: number): string | undefined {
  const at = code >= 0xf000 ? code - 0xf000 : code;
  if (/^wingdings 2/i.test(font)) return WINGDINGS_2[at];
  if (/^wingdings/i.test(font)) return WINGDINGS[at];
  if (/^symbol/i.test(font)) {
    const letter = at < 0x61 ? GREEK_UPPER[at - 0x41] : GREEK_LOWER[at - 0x61];
    return SYMBOL[at] ?? letter ?? (at >= 0x20 && at < 0x7f ? String.fromCharCode(at) : undefined);
  }
  return code < 0xe000 || (code > 0xf8ff && code <= 0x10ffff) ? String.fromCodePoint(code) : undefined;
}
