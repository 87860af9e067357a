/** The parts of a text between separators that are in no group and no environment. */
export function splitOutside(source: string, separator: RegExp): string[] {
  const parts: string[] = [];
  const input = new Input(source);
  let depth = 0;
  let from = 0;
  while (!input.atEnd) {
    const at = input.at;
    if (depth === 0 && input.take(separator) !== '') {
      parts.push(source.slice(from, at));
      from = input.at;
    } else if (input.take(/\\begin(?![A-Za-z])|\{/y) !== '') depth++;
    else if (input.take(/\\end(?![A-Za-z])|\}/y) !== '') depth = Math.max(depth - 1, 0);
    else if (input.take(/\\[\s\S]|%[^\n]*/y) === '') input.next();
  }
  return [...parts, source.slice(from)];
}

/** A position in LaTeX source. */
export class Input {
  readonly #source: string;
  at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get atEnd(): boolean {
    return this.at >= this.#source.length;
  }

  get peek(): string {
    return this.#source.charAt(this.at);
  }

  get previous(): string {
    return this.#source.charAt(this.at - 1);
  }

  next(): string {
    return this.#source.charAt(this.at++);
  }

  rest(units = Infinity): string {
    return this.#source.slice(this.at, this.at + units);
  }

  /** What a sticky expression matches here, or what `means` has for it. */
  take(expression: RegExp): string;
  take(expression: RegExp, means: ReadonlyMap<string, string>): string | undefined;
  take(expression: RegExp, means?: ReadonlyMap<string, string>): string | undefined {
    expression.lastIndex = this.at;
    const [match = ''] = expression.exec(this.#source) ?? [];
    this.at += match.length;
    return !means ? match : match === '' ? undefined : (means.get(match) ?? '');
  }

  /** The name of the command that begins here. */
  command(): string {
    this.next();
    const name = this.take(/[A-Za-z@]+/y) || this.next();
    if (/^[A-Za-z@]+$/.test(name) && !/^\s*\n\s*\n/.test(this.rest(50))) this.take(/[ \t]+(?=[{[])/y);
    return name;
  }

  /** A group's content, or one character or command. */
  argument(): string {
    this.take(/[ \t]*\n?[ \t]*/y);
    if (this.peek !== '{') return this.take(/\\[A-Za-z]+|\\[\s\S]|[^\\}\s]/y);
    const start = this.at + 1;
    let depth = 0;
    while (!this.atEnd) {
      if (this.take(/\\[\s\S]/y) !== '') continue;
      const sign = this.next();
      if (sign === '{') depth++;
      else if (sign === '}' && --depth === 0) return this.#source.slice(start, this.at - 1);
    }
    // Nothing closes the group: it is only this sign.
    this.at = start;
    return '';
  }

  /** The content of an optional argument; '' when there is none. */
  option(): string {
    return this.take(/[ \t]*\[(?:[^[\]{}]|\{[^{}]*\}|\[[^[\]]*\]){0,2000}\]/y)
      .trim()
      .slice(1, -1);
  }

  /** The rest of an environment, with environments of the same name in it. */
  until(name: string): string {
    const start = this.at;
    const ends = new RegExp(`\\\\(begin|end)\\{${name.replace(/[^\w]/g, '\\$&')}\\}`, 'g');
    ends.lastIndex = start;
    let depth = 1;
    for (let match = ends.exec(this.#source); match; match = ends.exec(this.#source)) {
      depth += match[1] === 'begin' ? 1 : -1;
      if (depth > 0) continue;
      this.at = ends.lastIndex;
      return this.#source.slice(start, match.index);
    }
    this.at = this.#source.length;
    return this.#source.slice(start);
  }
}
