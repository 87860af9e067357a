import iconv from 'iconv-lite';
import { oneLine, Remarks, type TextBlocks } from './blocks.ts';
import { encodingOf, RtfFonts, RtfStyles } from './rtf-tables.ts';
import { CHARACTERS, EDGES, READ, SKIPPED } from './rtf-words.ts';
import { edgeLines, PAGE_NUMBER } from './page-numbers.ts';
import { FlowText } from './flow-text.ts';
import { symbolOf } from './symbols.ts';
import { formatNumber } from './word-numbers.ts';

type Destination = 'text' | 'skip' | 'fonts' | 'styles' | 'instruction' | 'number' | 'author';

/** What a group can change and its end restores. */
interface Group {
  destination: Destination;
  hidden: boolean;
  deleted: boolean;
  font: number;
  /** Characters after `\u` that stand for it in older programs. */
  fallback: number;
  /** Called at the group's end. */
  end?: () => void;
  ignorable: boolean;
  /** Where `\upr`'s newer text goes. */
  outer: Destination;
}

const TOKEN =
  /\\([a-zA-Z]+)(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)|\\/gs;
/** Tells text behind a surplus brace from other bytes behind the document. */
const RTF_TEXT = /\\(?:par|pard|plain|cell)(?![a-z])/;
const MAX_GROUPS = 10_000;

/** Reads RTF as it is shown. */
export class RtfReader {
  readonly remarks = new Remarks();
  readonly headers = new Set<string>();
  readonly footers = new Set<string>();
  #text = new FlowText();
  #group: Group = {
    destination: 'text',
    hidden: false,
    deleted: false,
    font: -1,
    fallback: 1,
    ignorable: false,
    outer: 'text',
  };
  readonly #groups: Group[] = [];
  #encoding = 'cp1252';
  readonly #fonts = new RtfFonts();
  readonly #styles = new RtfStyles();
  #bytes: number[] = [];
  #skip = 0;
  #notes = { footnote: 0, endnote: 0 };
  #author = '';
  #instruction = '';
  #wasDeleted = false;
  #isEdge = false;
  /** Whether the cell that is being defined goes on with the one above. */
  #merges = false;

  read(bytes: Buffer): TextBlocks {
    const source = bytes.toString('latin1');
    TOKEN.lastIndex = 0;
    for (let token = TOKEN.exec(source); token; token = TOKEN.exec(source)) {
      const [, word, parameter, hex, symbol, brace, plain] = token;
      if (hex !== undefined) this.#plain([parseInt(hex, 16)]);
      else if (plain !== undefined) this.#letters(plain);
      else if (brace === '{') this.#open();
      else if (brace === '}') {
        this.#close();
        if (this.#groups.length === 0 && !RTF_TEXT.test(source.slice(TOKEN.lastIndex))) break;
      } else if (symbol === '*')
        this.#group.ignorable = /\{\s*$/.test(source.slice(Math.max(token.index - 4, 0), token.index));
      else if (word === 'bin') TOKEN.lastIndex += Math.max(Number(parameter ?? 0), 0);
      else if (word !== undefined) this.#word(word, parameter === undefined ? undefined : Number(parameter));
      else if (symbol !== undefined) this.#symbol(symbol);
    }
    while (this.#groups.length > 0) this.#close();
    this.#flush();
    return this.#text.end();
  }

  #open(): void {
    this.#flush();
    this.#skip = 0;
    if (this.#groups.length >= MAX_GROUPS) return;
    this.#groups.push(this.#group);
    const { destination } = this.#group;
    this.#group = { ...this.#group, ignorable: false, outer: destination };
    delete this.#group.end;
  }

  #close(): void {
    this.#flush();
    this.#skip = 0;
    this.#group.end?.();
    this.#group = this.#groups.pop() ?? this.#group;
  }

  #symbol(symbol: string): void {
    if (symbol === '\n' || symbol === '\r') this.#word('par', undefined);
    else this.#add(CHARACTERS.get(symbol) ?? '');
  }

  #letters(text: string): void {
    const isSymbol = this.#fonts.get(this.#group.font)?.isSymbol === true;
    const isPlain = this.#skip === 0 && this.#bytes.length === 0 && !isSymbol && /^[ -~]*$/.test(text);
    if (isPlain) this.#put(text);
    else this.#plain(Buffer.from(text, 'latin1'));
  }

  #plain(bytes: Iterable<number>): void {
    for (const byte of bytes) {
      if (this.#skip > 0) this.#skip -= 1;
      else this.#bytes.push(byte);
    }
  }

  /** Bytes are decoded together: a character can have two, written in different ways. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    const bytes = Buffer.from(this.#bytes);
    this.#bytes = [];
    const font = this.#fonts.get(this.#group.font);
    if (font?.isSymbol === true && this.#group.destination !== 'fonts') {
      this.#put([...bytes].map((byte) => (byte === 32 ? ' ' : this.#pictured(font.name, byte))).join(''));
    } else this.#put(iconv.decode(bytes, font?.encoding ?? this.#encoding));
  }

  #pictured(font: string, code: number): string {
    const symbol = symbolOf(font, code);
    if (symbol === undefined && this.#group.destination === 'text') this.remarks.add(`symbol:${font}`);
    return symbol ?? '';
  }

  #add(text: string): void {
    this.#flush();
    this.#put(text);
  }

  #put(text: string): void {
    const { destination, hidden, deleted } = this.#group;
    if (destination === 'instruction') this.#instruction += text;
    if (destination === 'author') this.#author += text;
    if (destination === 'number') this.#text.number += text;
    if (destination === 'styles') this.#styles.text(text);
    if (destination === 'fonts') this.#fonts.text(text);
    if (destination !== 'text') return;
    if (hidden) {
      if (text.trim() !== '') this.remarks.add('hidden');
    } else if (deleted) {
      if (!this.#wasDeleted) this.remarks.add('deletion');
    } else this.#text.line += text;
    if (text.trim() !== '') this.#wasDeleted = deleted;
  }

  #word(word: string, parameter: number | undefined): void {
    this.#flush();
    if (word === 'u') return this.#unicode(parameter ?? 0);
    this.#skip = 0;
    const character = CHARACTERS.get(word);
    if (word === 'chpgn') return this.#put(this.#isEdge ? PAGE_NUMBER : '');
    if (character !== undefined) return this.#put(character);
    if (this.#isDestination(word)) return;
    if (this.#group.destination === 'fonts') return this.#fonts.word(word, parameter);
    if (this.#group.destination === 'styles') return this.#styleWord(word, parameter);
    if (this.#group.destination !== 'skip') this.#format(word, parameter);
  }

  #unicode(parameter: number): void {
    const code = parameter < 0 ? parameter + 0x10000 : parameter;
    const font = this.#fonts.get(this.#group.font);
    if (font?.isSymbol === true && code >= 0xf000 && code <= 0xf0ff)
      this.#put(this.#pictured(font.name, code));
    else this.#put(code <= 0x10ffff ? String.fromCodePoint(code) : '');
    this.#skip = this.#group.fallback;
  }

  /** Whether a word makes its group something else than text. */
  #isDestination(word: string): boolean {
    const group = this.#group;
    if (group.destination === 'skip') {
      if (word === 'ud' && group.ignorable) group.destination = this.#groups.at(-1)?.outer ?? 'text';
      return word === 'ud';
    }
    const isIgnored = group.ignorable && !READ.has(word);
    group.ignorable = false;
    if (isIgnored || SKIPPED.has(word) || /^m\w+Pr$/.test(word)) group.destination = 'skip';
    else if (word === 'upr') {
      group.outer = group.destination;
      group.destination = 'skip';
    } else if (word === 'fonttbl') group.destination = 'fonts';
    else if (word === 'stylesheet') group.destination = 'styles';
    else if (word === 'listtext' || word === 'pntext') this.#numberGroup();
    else if (word === 'fldinst') {
      group.destination = 'instruction';
      this.#instruction = '';
    } else if (
      word === 'fldrslt' &&
      this.#isEdge &&
      /^\s*(PAGE|NUMPAGES|SECTIONPAGES)\b/i.test(this.#instruction)
    ) {
      this.#put(PAGE_NUMBER);
      group.destination = 'skip';
    } else if (word === 'atnauthor') {
      group.destination = 'author';
      this.#author = '';
    } else if (word === 'shptxt' || word === 'dptxbxtext')
      this.#stream((text) => this.#text.after.push(text));
    else if (word === 'annotation') this.#stream((text) => this.#comment(text));
    else if (word === 'footnote') this.#note();
    else if (word === 'moMath') this.remarks.add('formula');
    else {
      const edge = EDGES.get(word);
      if (edge === undefined) return false;
      this.#edge(edge);
    }
    return true;
  }

  #numberGroup(): void {
    this.#group.destination = 'number';
    this.#text.number = '';
    this.#group.end = () => {
      const number = oneLine(this.#text.number);
      this.#text.number = /[\p{L}\p{N}]/u.test(number) && number !== 'o' ? number : number === '' ? '' : '-';
    };
  }

  /** Text that stands apart from what is around it. */
  #stream(take: (text: string) => void): void {
    const outer = this.#text;
    const inner = new FlowText();
    this.#text = inner;
    this.#group.destination = 'text';
    this.#group.end = () => {
      const { text } = inner.end();
      this.#text = outer;
      take(text);
    };
  }

  #comment(text: string): void {
    if (text === '') return;
    const author = oneLine(this.#author);
    this.#text.after.push(`[Comment${author === '' ? '' : ` by ${author}`}: ${oneLine(text)}]`);
  }

  #note(): void {
    const outer = this.#text;
    const at = outer.line.length;
    const hidden = this.#group.hidden || this.#group.deleted;
    this.#group.hidden = false;
    let kind: 'footnote' | 'endnote' = 'footnote';
    this.#stream((text) => {
      if (hidden || text === '') return;
      this.#notes[kind] += 1;
      const number =
        kind === 'endnote' ? formatNumber(this.#notes.endnote, 'lowerRoman') : String(this.#notes.footnote);
      outer.line = `${outer.line.slice(0, at)}[${number}]${outer.line.slice(at)}`;
      outer.after.push(`[${number}] ${text}`);
    });
    this.#endnote = () => {
      kind = 'endnote';
    };
  }

  #endnote: () => void = () => undefined;

  #edge(edges: 'headers' | 'footers'): void {
    this.#isEdge = true;
    this.#stream((text) => {
      this.#isEdge = false;
      for (const line of edgeLines(text)) this[edges].add(line);
    });
  }

  #styleWord(word: string, parameter = 0): void {
    if (word === 'outlinelevel') this.#styles.outline((parameter + 1) % 10);
    if (word !== 's') return;
    this.#styles.begin(parameter);
    this.#group.end = () => this.#styles.end();
  }

  #format(word: string, parameter: number | undefined): void {
    const group = this.#group;
    const isOn = parameter !== 0;
    switch (word) {
      case 'ansicpg':
        this.#encoding = encodingOf(parameter ?? 1252) ?? this.#encoding;
        return;
      case 'mac':
        this.#encoding = 'macroman';
        return;
      case 'pc':
      case 'pca':
        this.#encoding = word === 'pc' ? 'cp437' : 'cp850';
        return;
      case 'uc':
        group.fallback = Math.min(parameter ?? 1, 100);
        return;
      case 'f':
        group.font = parameter ?? -1;
        return;
      case 'plain':
        Object.assign(group, { hidden: false, deleted: false, font: -1 });
        return;
      case 'v':
        group.hidden = isOn;
        return;
      case 'deleted':
        group.deleted = isOn;
        return;
      case 'revised':
        if (isOn) this.remarks.add('insertion');
        return;
      case 'ftnalt':
        this.#endnote();
        return;
      default:
        if (group.destination === 'text') this.#layout(word, parameter);
    }
  }

  /** Paragraphs and tables. */
  #layout(word: string, parameter = 0): void {
    const text = this.#text;
    switch (word) {
      case 'par':
      case 'sect':
      case 'page':
        text.paragraph();
        return;
      case 'pard':
        Object.assign(text, { level: 0, inTable: false });
        return;
      case 's':
        text.level = this.#styles.level(parameter);
        return;
      case 'outlinelevel':
        text.level = (parameter + 1) % 10;
        return;
      case 'intbl':
        text.inTable = true;
        return;
      case 'trowd':
        text.merged = [];
        this.#merges = false;
        return;
      case 'clvmrg':
        this.#merges = true;
        return;
      case 'cellx':
        text.merged.push(this.#merges);
        this.#merges = false;
        return;
      case 'nestcell':
        text.line += ' | ';
        return;
      case 'nestrow':
        text.line += '\n';
        return;
      case 'cell':
        text.cell();
        return;
      case 'row':
        text.row();
        return;
      default:
    }
  }
}
