import { pairs } from '../pairs.ts';

/** Characters by their hexadecimal code in a font. */
function codes(table: string): ReadonlyMap<number, string> {
  return new Map(pairs(table).map(([code, character]) => [parseInt(code, 16), character]));
}

/** Greek letters in the places that the font Symbol gives them, from 0x41 and 0x61. */
const GREEK_UPPER = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const GREEK_LOWER = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';

const SYMBOL = codes(
  '2d − a3 ≤ a5 ∞ ae → ac ← b0 ° b1 ± b3 ≥ b4 × b6 ∂ b7 • b8 ÷ b9 ≠ ba ≡ bb ≈ c7 ∩ c8 ∪ ' +
    'ce ∈ d1 ∇ d6 √ d7 ⋅ de ⇒ e5 ∑ f2 ∫',
);

const WINGDINGS = codes(
  '28 ☎ 2a ✉ 4a ☺ 4c ☹ 6c ● 6e ■ 6f ☐ 71 ☐ 72 ☐ 76 ❖ a1 ○ a7 ▪ a8 ☐ ab ★ d8 ➢ df ← e0 → ' +
    'e8 → f0 ⇨ fb ✗ fc ✓ fd ☒ fe ☑',
);

const WINGDINGS_2 = codes('4f ✗ 50 ✓ 51 ☒ 52 ☑ 53 ☒ 54 ☒ 2a ☐ a3 ☐ 98 ●');

/** A character of a font whose letters are pictures, as one of Unicode; undefined if there is none here. */
export function symbolOf(font: string, code: number): string | undefined {
  const at = code >= 0xf000 ? code - 0xf000 : code;
  if (/^wingdings 2/i.test(font)) return WINGDINGS_2.get(at);
  if (/^wingdings/i.test(font)) return WINGDINGS.get(at);
  if (/^symbol/i.test(font)) {
    const letter = at < 0x61 ? GREEK_UPPER[at - 0x41] : GREEK_LOWER[at - 0x61];
    return SYMBOL.get(at) ?? letter ?? (at >= 0x20 && at < 0x7f ? String.fromCharCode(at) : undefined);
  }
  return code < 0xe000 || (code > 0xf8ff && code <= 0x10ffff) ? String.fromCodePoint(code) : undefined;
}
