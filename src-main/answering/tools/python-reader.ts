/** Constants, of JSON as well: models mix them up. */
const CONSTANTS: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' };

const ESCAPED = /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^]))/g;

/** Reads Python literals from a text that may end within them. */
export class PythonReader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  /** The arguments of a call up to its bracket that are complete; `end`: after the bracket, undefined while that is missing. */
  keywords(): { pairs: [key: string, value: unknown][]; end: number | undefined } {
    const pairs: [string, unknown][] = [];
    while (!this.#takes(')')) {
      const key = /\s*([^\s=()]+)\s*=\s*/y;
      key.lastIndex = this.#at;
      const found = key.exec(this.#text);
      if (!found) return { pairs, end: undefined };
      this.#at = key.lastIndex;
      const value = this.#value();
      if (value === undefined) return { pairs, end: undefined };
      pairs.push([found[1] ?? '', value]);
      this.#takes(',');
    }
    return { pairs, end: this.#at };
  }

  /** undefined while it is incomplete. */
  #value(): unknown {
    this.#skip();
    const char = this.#text[this.#at];
    if (char === '"' || char === "'") return this.#string(char);
    if (char === '[') return this.#items(']', () => this.#value());
    if (char === '(') return this.#items(')', () => this.#value());
    if (char === '{') {
      const entries = this.#items('}', () => this.#entry());
      return entries && Object.fromEntries(entries as [string, unknown][]);
    }
    const end = /[,)\]}\s:]/.exec(this.#text.slice(this.#at))?.index;
    if (end === undefined) return undefined;
    const word = this.#text.slice(this.#at, this.#at + end);
    this.#at += end;
    if (Object.hasOwn(CONSTANTS, word)) return CONSTANTS[word];
    const number = Number(word.replaceAll('_', ''));
    return word === '' || Number.isNaN(number) ? word : number;
  }

  #items(close: string, read: () => unknown): unknown[] | undefined {
    const items: unknown[] = [];
    this.#at++;
    while (!this.#takes(close)) {
      const before = this.#at;
      const item = read();
      if (item === undefined || this.#at === before) return undefined;
      items.push(item);
      this.#takes(',');
    }
    return items;
  }

  #entry(): [string, unknown] | undefined {
    const key = this.#value();
    if (key === undefined || !this.#takes(':')) return undefined;
    const value = this.#value();
    return value === undefined ? undefined : [typeof key === 'string' ? key : JSON.stringify(key), value];
  }

  #string(quote: string): string | undefined {
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      if (this.#text[at] === '\\') at++;
      else if (this.#text[at] === quote) {
        const text = this.#text.slice(this.#at + 1, at);
        this.#at = at + 1;
        return text.replaceAll(ESCAPED, (_, unicode?: string, byte?: string, char = '') => {
          const code = unicode ?? byte;
          return code === undefined
            ? (ESCAPES[char as string] ?? String(char))
            : String.fromCharCode(parseInt(code, 16));
        });
      }
    }
    return undefined;
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #takes(char: string): boolean {
    this.#skip();
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }
}
