/** Normalises text for plain BM25: lower case, unspaced scripts as pairs of characters; no stems, no stop words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;

export function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(UNSPACED, (run) => {
      const characters = Array.from(run);
      return ` ${characters.map((character, i) => character + (characters[i + 1] ?? '')).join(' ')} `;
    });
}

/** Matches any of a question's words. */
export function plainQuery(question: string): string {
  const words = new Set(plainText(question).match(/[\p{L}\p{N}\p{M}]+/gu) ?? ['none']);
  return [...words].map((word) => `"${word}"`).join(' OR ');
}
