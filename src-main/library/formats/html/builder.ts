/** Precedes a heading, with its level, until the text is complete. Pages are stripped of these characters first. */
export const HEADING = '\uE000';
export const targetMark = (index: number): string => `\uE001${index}\uE002`;
export const OURS = /[\uE000-\uE002]/g;

/** Marks of list items and quotes deeper than this are not indented further. */
const MAX_PREFIXES = 12;

interface Prefix {
  /** Before the first line. */
  first: string;
  /** Before the other lines. */
  rest: string;
  used: boolean;
}

/** Collects words, line ends and the marks of lists and quotes. */
export class TextBuilder {
  #text = '';
  /** What was written last: looking at the end of a long text that still grows would copy it each time. */
  #last = '';
  /** Line ends due before the next words. */
  #breaks = 0;
  #space = false;
  /** Whether blocks that begin now continue the line: after the mark of a list item. */
  #held = false;
  #marks = '';
  readonly #prefixes: Prefix[] = [];

  get text(): string {
    return this.#text;
  }

  /** Whether the text ends with one of these characters. */
  endsWith(characters: string): boolean {
    return this.#last !== '' && characters.includes(this.#last.slice(-1));
  }

  /** White space collapses as by CSS's `white-space: normal`. */
  words(data: string): void {
    const flat = data.replace(/[ \t\r\n\f]+/g, ' ');
    const words = flat.replace(/^ | $/g, '');
    if (flat.startsWith(' ')) this.#space = true;
    if (words === '') return;
    this.literal(words);
    this.#space = flat.endsWith(' ');
  }

  /** White space stays. */
  preformatted(data: string): void {
    data.split('\n').forEach((line, i) => {
      if (i > 0) this.#breaks++;
      if (line !== '') this.literal(line);
    });
  }

  literal(words: string): void {
    if (this.#breaks > 0 || this.#text === '') this.#startLine();
    else if (this.#space && !/\s$/.test(this.#last)) this.#text += ' ';
    this.#space = false;
    this.#held = false;
    this.#text += this.#marks + words;
    this.#last = words;
    this.#marks = '';
  }

  /** At least this many line ends before the next words. */
  break(lines: number): void {
    if (!this.#held) this.#breaks = Math.max(this.#breaks, lines);
    this.#space = false;
  }

  /** A line end, as by <br>; two make a paragraph. */
  newLine(): void {
    if (this.#breaks < 2) this.#breaks++;
    this.#space = false;
  }

  /** Blocks that begin before the next words do not begin a line. */
  hold(): void {
    this.#held = true;
  }

  /** Places a mark before the next words. */
  mark(mark: string): void {
    this.#marks += mark;
  }

  /** Lines of `write` begin with these marks. */
  prefixed(first: string, rest: string, write: () => void): void {
    if (this.#prefixes.length >= MAX_PREFIXES) return write();
    const prefix = { first, rest, used: false };
    this.#prefixes.push(prefix);
    this.hold();
    write();
    this.#held = false;
    this.#prefixes.pop();
  }

  /** A list item: those of one list follow each other without blank lines. */
  item(first: string, write: () => void): void {
    this.break(1);
    const before = this.#text.length;
    this.prefixed(first, ' '.repeat(first.length), write);
    if (this.#text.length > before) this.#breaks = 1;
  }

  #startLine(): void {
    if (this.#text !== '') this.#text += '\n'.repeat(this.#breaks);
    this.#breaks = 0;
    for (const prefix of this.#prefixes) {
      this.#text += prefix.used ? prefix.rest : prefix.first;
      prefix.used = true;
    }
  }
}
