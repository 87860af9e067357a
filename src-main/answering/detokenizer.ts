import { TimeSlice } from '../platform/time-slice.ts';

/** Turns ids into text. */
type Detokenize = (tokens: readonly number[]) => string;

const REPLACEMENT = '\uFFFD';
const BROKEN_END = /\uFFFD+$/;

/** No character takes more tokens; text that is still incomplete after them is broken for good. */
const MAX_TOKENS_PER_CHARACTER = 8;

/**
 * Text of a stream of tokens. A character whose bytes come in several tokens is held back until it is whole. Tokens are
 * decoded together with the ones before, since some tokenizers write a space between words only there.
 */
export class StreamDetokenizer {
  readonly #detokenize: Detokenize;
  /** Tokens whose text has been given out, kept as the left context of the next ones. */
  #shown: number[] = [];
  #pending: number[] = [];

  /** `before`: tokens of the same text whose own text is there already. */
  constructor(detokenize: Detokenize, before: Int32Array = new Int32Array(0)) {
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

  /** What is left at the end of the stream, without a character whose last bytes did not come. */
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

/** Text of every token of a list; a character that spans several tokens stands with its last one. */
export async function tokenTexts(tokens: Iterable<number>, detokenize: Detokenize): Promise<string[]> {
  const stream = new StreamDetokenizer(detokenize);
  const slice = new TimeSlice(); // a prompt has ten thousand and more
  const texts: string[] = [];
  for (const token of tokens) {
    texts.push(stream.push(token));
    await slice.step();
  }
  const rest = stream.flush();
  return rest === '' ? texts : texts.with(-1, (texts.at(-1) ?? '') + rest);
}
