import { Input, splitOutside } from './input.ts';
import { accented, isAccent, SILENT, SYMBOLS } from './symbols.ts';
import { tableText } from '../tables/table.ts';

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
    const symbol = SYMBOLS.get(name);
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
    for (let i = SILENT.get(name) ?? 0; i > 0; i--) input.argument();
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
