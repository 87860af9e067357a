import { TimeSlice } from '../platform/time-slice.ts';

/** Turns ids into text. */
type Detokenizer = (tokens: readonly number[]) => string;

const REPLACEMENT = '\uFFFD';
const BROKEN_END = /\uFFFD+$/;

/** No character takes more tokens than this; text that is still incomplete after them is permanently broken. */
const MAX_TOKENS_PER_CHARACTER = 8;

/**
 * Streams tokens as text. A character whose bytes span several tokens is held back until it is complete. Tokens are decoded together with
 * the preceding ones, since some tokenizers write a space between words only there.
 */
export class StreamDetokenizer {
  readonly #detokenize: Detokenizer;
  /** Tokens whose text has been emitted, kept as the left context of the next ones. */
  #shown: number[] = [];
  #pending: number[] = [];

  /** `before`: preceding tokens of the same text, whose text already exists. */
  constructor(detokenize: Detokenizer, before: Int32Array = new Int32Array(0)) {
    this.#detokenize = detokenize;
    this.#shown = [...before.subarray(-MAX_TOKENS_PER_CHARACTER)];
  }

  /** The text that `token` completes; '' while a character is incomplete. */
  push(token: number): string {
    this.#pending.push(token);
    const text = this.#textOfPending();
    if (text.endsWith(REPLACEMENT) && this.#pending.length < MAX_TOKENS_PER_CHARACTER) return '';
    return this.#show(text);
  }

  /** The remaining text at the end of the stream, without a character whose last bytes never arrived. */
  flush(): string {
    return this.#pending.length > 0 ? this.#show(this.#textOfPending().replace(BROKEN_END, '')) : '';
  }

  #textOfPending(): string {
    const before = this.#detokenize(this.#shown);
    return this.#detokenize([...this.#shown, ...this.#pending]).slice(before.length);
  }

  #show(text: string): string {
    this.#shown = this.#pending;
    this.#pending = [];
    return text;
  }
}

/** The text of every token in a list; a character that spans several tokens belongs to its last one. */
export async function tokenTexts(tokens: Iterable<number>, detokenize: Detokenizer): Promise<string[]> {
  const stream = new StreamDetokenizer(detokenize);
  const slice = new TimeSlice(); // a prompt may have over ten thousand tokens
  const texts: string[] = [];
  for (const token of tokens) {
    texts.push(stream.push(token));
    await slice.step();
  }
  const rest = stream.flush();
  return rest === '' ? texts : texts.with(-1, (texts.at(-1) ?? '') + rest);
}
