import iconv from 'iconv-lite';
import { oneLine } from './blocks.ts';
import { CHARSETS } from './rtf-words.ts';

interface RtfFont {
  name: string;
  /** undefined: that of the document. */
  encoding: string | undefined;
  /** Whether its letters are pictures. */
  isSymbol: boolean;
}

export class RtfFonts {
  readonly #fonts = new Map<number, RtfFont>();
  #last: RtfFont | undefined;

  get(number: number): RtfFont | undefined {
    return this.#fonts.get(number);
  }

  word(word: string, parameter = 0): void {
    if (word === 'f') {
      this.#last = { name: '', encoding: undefined, isSymbol: false };
      this.#fonts.set(parameter, this.#last);
    }
    if (!this.#last) return;
    if (word === 'fcharset') {
      this.#last.encoding = CHARSETS.get(String(parameter));
      this.#last.isSymbol = parameter === 2;
    }
    if (word === 'cpg') this.#last.encoding = encodingOf(parameter) ?? this.#last.encoding;
  }

  /** Part of the name of the font that was described last. */
  text(text: string): void {
    if (this.#last) this.#last.name += text.replace(/;.*$/s, '');
  }
}

/** The style sheet of an RTF file, as far as it says which styles are headings. */
export class RtfStyles {
  readonly #levels = new Map<number, number>();
  #last = { number: 0, level: 0, name: '' };

  /** 0 for text. */
  level(style: number): number {
    return this.#levels.get(style) ?? 0;
  }

  begin(number: number): void {
    this.#last = { number, level: 0, name: '' };
  }

  outline(level: number): void {
    this.#last.level = level;
  }

  text(text: string): void {
    this.#last.name += text;
  }

  end(): void {
    const name = oneLine(this.#last.name.replace(/;.*$/s, ''));
    const [, digit] = /^heading (\d)$/i.exec(name) ?? [];
    const named = digit === undefined ? (/^title$/i.test(name) ? 1 : 0) : Number(digit);
    this.#levels.set(this.#last.number, this.#last.level || named);
  }
}

export function encodingOf(page: number): string | undefined {
  const name = { 65001: 'utf8', 10000: 'macroman', 708: 'iso88596' }[page] ?? `cp${page}`;
  return iconv.encodingExists(name) ? name : undefined;
}
