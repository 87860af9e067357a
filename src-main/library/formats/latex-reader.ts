import { accented, isAccent, SILENT, SYMBOLS } from './latex-symbols.ts';
import { tableText } from './table.ts';

const SECTIONS = ['part', 'chapter', 'section', 'subsection', 'subsubsection', 'paragraph', 'subparagraph'];
const MATH =
  /^(?:displaymath|math|equation|align|alignat|flalign|gather|multline|eqnarray|dmath|subequations)\*?$/;
const CODE = /^(?:verbatim|Verbatim|lstlisting|minted|alltt|filecontents|tikzpicture|pgfpicture)\*?$/;
const TABLES = /^(?:tabular[xy]?|longtable|tabulary|array|supertabular)\*?$/;
const STATEMENTS =
  /^(?:theorem|lemma|proposition|corollary|definition|remark|example|proof|claim|conjecture)\*?$/;

/** Expansions of an author's commands in one document, and their depth: they can grow without end. */
const MAX_EXPANSIONS = 20_000;
const MAX_DEPTH = 40;
const MAX_BODY = 2000;

interface Macro {
  body: string;
  parameters: number;
}

/** Reads the words of LaTeX source: formulas and code stay as they are, unknown commands leave their arguments. */
export class LatexReader {
  readonly #macros = new Map<string, Macro>();
  readonly #topLevel: number;
  #expansions = 0;
  pictures = 0;
  readonly included: string[] = [];
  readonly fields: { title?: string; author?: string; date?: string } = {};

  constructor(source: string) {
    const used = SECTIONS.findIndex(
      (name) => source.includes(`\\${name}{`) || source.includes(`\\${name}*{`),
    );
    this.#topLevel = Math.max(used, 0);
  }

  read(source: string, depth = 0): string {
    if (depth > MAX_DEPTH) return '';
    const input = new Input(source);
    let text = '';
    while (!input.atEnd) {
      const plain = input.take(/[^\\{}$~`'%-]+/y);
      if (plain !== '') text += plain;
      else if (input.peek === '\\') text += this.#command(input, depth);
      else if (input.peek === '$')
        text += input.take(/\$\$[\s\S]*?(?:\$\$|$)|\$(?:\\[\s\S]|[^$\\])*(?:\$|$)/y) || input.next();
      else
        text +=
          input.take(/---?|``|''|%[^\n]*\n?[ \t]*/y, PUNCTUATION) ??
          DROPPED.get(input.next()) ??
          input.previous;
    }
    return text;
  }

  #command(input: Input, depth: number): string {
    const math = input.take(/\\\[[\s\S]*?(?:\\\]|$)|\\\([\s\S]*?(?:\\\)|$)/y);
    if (math !== '') return math.startsWith('\\[') ? `\n\n${math}\n\n` : math;
    const name = input.command();
    const section = SECTIONS.indexOf(name);
    if (section >= 0) return this.#section(section, input, depth);
    const macro = this.#macros.get(name);
    if (macro) return this.#expand(macro, input, depth);
    if (isAccent(name) && (!/[a-z]/i.test(name) || /^\s*[{\\]|^\s+\p{L}/u.test(input.rest(3))))
      return accented(name, this.read(input.argument(), depth + 1));
    const symbol = Object.hasOwn(SYMBOLS, name) ? SYMBOLS[name] : undefined;
    if (symbol !== undefined) {
      if (/^[a-z]+$/i.test(name)) input.take(/[ \t]*\n?[ \t]*(?![\n])/y);
      if (name === '\\') input.take(/\*?(?:\[[^\]]*\])?/y);
      return symbol;
    }
    return this.#known(name, input, depth) ?? this.#unknown(name, input);
  }

  #section(section: number, input: Input, depth: number): string {
    input.take(/\*/y);
    input.option();
    const title = this.read(input.argument(), depth + 1)
      .replace(/\s+/g, ' ')
      .trim();
    return `\n\n${'#'.repeat(Math.min(section - this.#topLevel + (this.fields.title === undefined ? 1 : 2), 6))} ${title}\n\n`;
  }

  #expand({ body, parameters }: Macro, input: Input, depth: number): string {
    if (++this.#expansions > MAX_EXPANSIONS) return '';
    const values = Array.from({ length: parameters }, () => input.argument());
    return this.read(
      body.replace(/#(\d)/g, (_, number: string) => values[Number(number) - 1] ?? ''),
      depth + 1,
    );
  }

  /** Commands that mean something for the text; undefined for others. */
  #known(name: string, input: Input, depth: number): string | undefined {
    const read = (): string => this.read(input.argument(), depth + 1);
    switch (name) {
      case 'begin':
        return this.#environment(input, depth);
      case 'end':
        input.argument();
        return '\n\n';
      case 'footnote':
      case 'footnotetext':
      case 'thanks':
        input.option();
        return ` [${read().trim()}]`;
      case 'href':
        input.argument();
        return read();
      case 'url':
      case 'path':
        return input.argument();
      case 'verb':
      case 'lstinline':
        return input.take(/\*?(?:\{[^}]*\}|([^\w\s])[^\n]*?\1)/y).replace(/^\*?.|.$/g, '');
      case 'caption':
        input.option();
        return `\n\n${read().trim()}\n\n`;
      case 'title':
      case 'author':
      case 'date':
        input.option();
        this.fields[name] = read().replace(/\s+/g, ' ').replaceAll(' ,', ',').trim();
        return '';
      case 'bibitem':
        input.option();
        return `\n- [${input.argument()}] `;
      case 'newcommand':
      case 'renewcommand':
      case 'providecommand':
      case 'def':
        return this.#define(name, input);
      default:
        return /^(?:[A-Za-z]*cite[a-z]*|(?:eq|page|auto|c|C|name)?ref)$/.test(name)
          ? this.#reference(input)
          : undefined;
    }
  }

  #reference(input: Input): string {
    input.take(/\*/y);
    input.option();
    input.option();
    return `[${input.argument()}]`;
  }

  #define(name: string, input: Input): string {
    input.take(/\*/y);
    const [, macro = ''] =
      /^\\(.+)$/s.exec(name === 'def' ? input.take(/\\[A-Za-z]+/y) : input.argument().trim()) ?? [];
    const parameters =
      name === 'def' ? input.take(/(?:#\d)*/y).length / 2 : Number.parseInt(input.option(), 10) || 0;
    const hasDefault = input.option() !== '';
    const body = input.argument();
    if (macro !== '' && !hasDefault)
      this.#macros.set(macro, { body: body.slice(0, MAX_BODY), parameters: Math.min(parameters, 9) });
    return '';
  }

  #unknown(name: string, input: Input): string {
    if (name === 'includegraphics') this.pictures++;
    if (/^(?:input|include|subfile)$/.test(name))
      this.included.push(input.rest(200).replace(/^\s*\{?([^}\s]*)[\s\S]*$/, '$1'));
    input.take(/\*/y);
    for (let i = 0; i < 3; i++) if (input.option() === '') break;
    for (let i = SILENT[name] ?? 0; i > 0; i--) input.argument();
    return '';
  }

  #environment(input: Input, depth: number): string {
    const name = input.argument();
    if (MATH.test(name)) return `\n\n\\begin{${name}}${input.until(name)}\\end{${name}}\n\n`;
    if (name === 'comment') return input.until(name).slice(0, 0);
    if (/^(?:tikz|pgf)picture/.test(name)) this.pictures++;
    if (CODE.test(name)) {
      const code = input.until(name).replace(/^(?:\[[^\]]*\])?(?:\{[^}]*\})?[ \t]*\n/, '');
      return /^(?:tikz|pgf)/.test(name) ? '' : `\n\n\`\`\`\n${code.replace(/\n[ \t]*$/, '')}\n\`\`\`\n\n`;
    }
    if (TABLES.test(name)) return `\n\n${this.#table(name, input, depth)}\n\n`;
    if (/^(?:itemize|enumerate|description)\*?$/.test(name))
      return `\n\n${this.#list(name, input, depth)}\n\n`;
    const label = input.option();
    if (STATEMENTS.test(name)) {
      const kind = name.charAt(0).toUpperCase() + name.slice(1).replace('*', '');
      return `\n\n${kind}${label === '' ? '' : ` (${this.read(label, depth + 1)})`}. `;
    }
    if (/^(?:thebibliography|multicols|minipage|wrapfigure|adjustbox)/.test(name)) input.argument();
    return '\n\n';
  }

  #list(name: string, input: Input, depth: number): string {
    const [, ...items] = splitOutside(input.until(name), /\\item(?![A-Za-z])/y);
    return items
      .map((item, i) => {
        const inner = new Input(item);
        const label = this.read(inner.option(), depth + 1);
        const words = this.read(inner.rest(), depth + 1)
          .trim()
          .replace(/\n{2,}/g, '\n')
          .replaceAll('\n', '\n  ');
        const mark = name.startsWith('enumerate') && label === '' ? `${i + 1}.` : '-';
        return `${mark} ${label === '' ? '' : `${label.replace(/:$/, '')}: `}${words}`;
      })
      .join('\n');
  }

  #table(name: string, input: Input, depth: number): string {
    if (/^tabular[xy*]/.test(name)) input.argument();
    input.option();
    input.argument();
    const rows = splitOutside(input.until(name), /\\\\(?:\[[^\]]*\])?|\\tabularnewline/y).map((row) =>
      splitOutside(row, /&/y).flatMap((cell) => {
        const [, columns, inside] = /\\multicolumn\s*\{(\d+)\}\s*\{[^}]*\}\s*(\{[\s\S]*)/.exec(cell) ?? [];
        const text = this.read(inside ?? cell, depth + 1)
          .replace(/\s+/g, ' ')
          .trim();
        return [text, ...Array<string>(Math.min(Math.max(Number(columns ?? 1) - 1, 0), 100)).fill('')];
      }),
    );
    return tableText(rows.filter((row) => row.some((cell) => cell !== '')));
  }
}

const PUNCTUATION = new Map([
  ['--', '–'],
  ['---', '—'],
  ['``', '“'],
  ["''", '”'],
]);
const DROPPED = new Map([
  ['{', ''],
  ['}', ''],
  ['~', '\u00a0'],
]);

/** The parts of a text between separators that are in no group and no environment. */
function splitOutside(source: string, separator: RegExp): string[] {
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
class Input {
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
