/** The syntax of special tokens: <|im_start|>, </think>, [INST]. */
const LOOKS_LIKE_ONE = /<[^<>\s]{1,64}>|\[[^[\]\s]{2,64}\]/g;

/** Texts contain few distinct ones; a malicious text must not fill memory. */
const MOST_KNOWN = 10_000;

/**
 * Texts that a vocabulary maps to a special token even when no control tokens are requested: files list some that steer
 * the model ("user-defined" tokens), such as Gemma's <start_of_turn>, Qwen's <think>, and most of gpt-oss's. Document
 * text must never become such a token, so it is tokenised in pieces that contain no whole mark.
 */
export class Marks {
  readonly #tokenize: (text: string) => Int32Array;
  readonly #known = new Map<string, boolean>();

  constructor(tokenize: (text: string) => Int32Array) {
    this.#tokenize = tokenize;
  }

  /** The text, split after the first character of each mark. */
  split(text: string): string[] {
    const pieces: string[] = [];
    let start = 0;
    LOOKS_LIKE_ONE.lastIndex = 0;
    for (let found; (found = LOOKS_LIKE_ONE.exec(text)); LOOKS_LIKE_ONE.lastIndex = found.index + 1) {
      if (!this.#isToken(found[0])) continue;
      pieces.push(text.slice(start, found.index + 1));
      start = found.index + 1;
    }
    return [...pieces, text.slice(start)];
  }

  #isToken(mark: string): boolean {
    const known = this.#known.get(mark);
    if (known !== undefined) return known;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    const is = this.#tokenize(mark).length === 1;
    this.#known.set(mark, is);
    return is;
  }
}
