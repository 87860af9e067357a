/** Whether a word may continue from one line to the next. */
export function isDivided(line: string, next: string): boolean {
  return /\p{L}-$/u.test(line) && /^\p{Ll}/u.test(next);
}

const WORD = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu;

/** The words of a document that are not broken across lines: they decide whether a hyphen at a line's end belongs to the word. */
export class PlainWords {
  readonly #words = new Set<string>();

  /** `lines` of a page or column, in order. */
  add(lines: readonly string[]): void {
    lines.forEach((line, i) => {
      const words = wordsOf(line);
      const from = isDivided(lines[i - 1] ?? '', line) ? 1 : 0;
      const to = isDivided(line, lines[i + 1] ?? '') ? -1 : words.length;
      for (const word of words.slice(from, to)) this.#words.add(word);
    });
  }

  /**
   * Whether the hyphen between two lines is part of the word: the document spells it so elsewhere, or the word has hyphens already and both
   * sides are words: "left-to-" and "right", but not "self-organi-" and "zation".
   */
  keepsHyphen(line: string, next: string): boolean {
    const head = wordsOf(line).at(-1) ?? '';
    const tail = wordsOf(next)[0]?.split('-')[0] ?? '';
    const last = head.split('-').at(-1) ?? '';
    if (this.#words.has(head + tail) || this.#words.has(last + tail)) return false;
    if (this.#words.has(`${head}-${tail}`)) return true;
    return head !== last && this.#words.has(last) && this.#words.has(tail);
  }
}

function wordsOf(line: string): string[] {
  return line.toLowerCase().match(WORD) ?? [];
}
