import { KvasirError } from '../../../src-shared/errors.ts';
import type { SourceFile } from '../formats/format.ts';
import { isDivided, PlainWords } from '../formats/pdf/hyphens.ts';
import { pagePicture } from './page-picture.ts';
import { fit, smooth, turn, type Picture } from './picture.ts';
import { loadTesseract, unloadTesseract, type Layout, type LayoutWord, type Tesseract } from './tesseract.ts';

/** A word's UTF-16 range in the page's text, and its box in parts of 65,535 of the page. */
type RecognisedWord = readonly [
  start: number,
  end: number,
  left: number,
  top: number,
  right: number,
  bottom: number,
];

export interface RecognisedPage {
  text: string;
  /** Mean of its words by their length, 0 to 100. */
  confidence: number;
  words: RecognisedWord[];
}

/** Below this confidence, the page may be on its side or its head. */
const UPRIGHT = 70;
const PARTS = 65_535;

/** Recognises the text of a page. DOCUMENT_UNREADABLE. */
export async function recognisePage(file: SourceFile, format: string, page: number): Promise<RecognisedPage> {
  const tesseract = await loadTesseract();
  try {
    return recognisePicture(await pagePicture(file, format, page, tesseract), tesseract);
  } catch (error) {
    if (!(error instanceof KvasirError)) unloadTesseract();
    throw error;
  }
}

function recognisePicture(picture: Picture, tesseract: Tesseract): RecognisedPage {
  const clear = smooth(fit(picture));
  let best = recogniseTurned(clear, 0, tesseract);
  for (const quarters of [2, 1, 3]) {
    if (best.confidence >= UPRIGHT) break;
    const turned = recogniseTurned(clear, quarters, tesseract);
    if (turned.confidence * turned.text.length > best.confidence * best.text.length) best = turned;
  }
  return best;
}

function recogniseTurned(picture: Picture, quarters: number, tesseract: Tesseract): RecognisedPage {
  const turned = turn(picture, quarters);
  return new PageBuilder(turned, quarters).page(tesseract.recognise(turned));
}

const HAN_LAST = /[\p{Script=Han}\u3000-\u303f\uff00-\uffef]$/u;
const HAN_FIRST = /^[\p{Script=Han}\u3000-\u303f\uff00-\uffef]/u;

/** Joins words to lines and lines to paragraphs, and keeps where each word is. */
class PageBuilder {
  #text = '';
  readonly #words: RecognisedWord[] = [];
  #confidence = 0;
  #letters = 0;
  readonly #picture: Picture;
  readonly #quarters: number;

  constructor(picture: Picture, quarters: number) {
    this.#picture = picture;
    this.#quarters = quarters;
  }

  page({ blocks }: Layout): RecognisedPage {
    const plain = new PlainWords();
    const paragraphs = blocks.flatMap((block) => block.paragraphs ?? []);
    for (const { lines } of paragraphs) plain.add(lines.map(textOf));
    for (const { lines } of paragraphs) {
      if (this.#text !== '') this.#text += '\n\n';
      lines.forEach((line, i) => {
        const before = lines[i - 1];
        if (before) this.#breakLine(textOf(before), textOf(line), plain);
        for (const word of line.words) this.#add(word);
      });
    }
    const confidence = this.#letters > 0 ? this.#confidence / this.#letters : 0;
    return { text: this.#text, confidence, words: this.#words };
  }

  #breakLine(before: string, line: string, plain: PlainWords): void {
    if (!isDivided(before, line)) this.#text += '\n';
    else if (!plain.keepsHyphen(before, line)) {
      this.#text = this.#text.slice(0, -1);
      const [start, end, ...box] = this.#words.pop() ?? [0, 0, 0, 0, 0, 0];
      this.#words.push([start, end - 1, ...box]);
    }
  }

  #add({ text, confidence, bbox }: LayoutWord): void {
    if (/[^\s-]$/.test(this.#text) && !(HAN_LAST.test(this.#text) && HAN_FIRST.test(text))) this.#text += ' ';
    const start = this.#text.length;
    this.#text += text;
    this.#confidence += confidence * text.length;
    this.#letters += text.length;
    this.#words.push([start, this.#text.length, ...this.#box(bbox)]);
  }

  /** On the page as it is in the file. */
  #box({ x0, y0, x1, y1 }: LayoutWord['bbox']): [number, number, number, number] {
    const { width, height } = this.#picture;
    let [left, top, right, bottom] = [x0 / width, y0 / height, x1 / width, y1 / height];
    for (let i = 0; i < this.#quarters; i++) [left, top, right, bottom] = [top, 1 - right, bottom, 1 - left];
    const [l = 0, t = 0, r = 0, b = 0] = [left, top, right, bottom].map((each) => Math.round(each * PARTS));
    return [l, t, r, b];
  }
}

function textOf({ words }: { words: readonly LayoutWord[] }): string {
  return words.map(({ text }) => text).join(' ');
}
