import { overlap } from '../answering/thoughts.ts';

/** The text emitted from a stream, which may have ended. */
interface EmittedText {
  text: string;
  /** The stop text that ended it. */
  stoppedBy: string | undefined;
}

/**
 * Ends a stream of text at the first of several stop texts, even if it spans pieces. A possible beginning of one is held back until it is
 * clear.
 */
export class StopTexts {
  readonly #stops: readonly string[];
  #held = '';

  /** None of them is empty. */
  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  push(text: string): EmittedText {
    const whole = this.#held + text;
    const found = this.#first(whole);
    if (found) {
      this.#held = '';
      return { text: whole.slice(0, found.at), stoppedBy: found.stop };
    }
    const open = Math.max(0, ...this.#stops.map((stop) => overlap(whole, stop)));
    this.#held = whole.slice(whole.length - open);
    return { text: whole.slice(0, whole.length - open), stoppedBy: undefined };
  }

  /** The remaining text at the end of the stream. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }

  /** The stop text that is complete first; of those that begin at the same position, the longest one present. */
  #first(text: string): { at: number; stop: string } | undefined {
    return this.#stops
      .map((stop) => ({ at: text.indexOf(stop), stop }))
      .filter(({ at }) => at >= 0)
      .toSorted((a, b) => a.at - b.at || b.stop.length - a.stop.length)[0];
  }
}
