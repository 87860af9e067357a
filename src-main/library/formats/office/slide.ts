import { pictureText } from '../pictures.ts';
import { isRepeated, tableText } from '../tables/table.ts';
import { attribute, descendants, element, elements, textOf, type XmlElement } from '../xml.ts';
import { oneLine, type Remarks, TextBlocks } from './blocks.ts';
import { chartText, diagramText } from './drawings.ts';
import { mathText } from './math.ts';
import type { OfficePackage } from './package.ts';
import { formatNumber } from './word-numbers.ts';

export interface SlideText {
  title: string;
  body: TextBlocks;
  /** Lines of footers and dates. */
  edges: string[];
}

/** Reads the shapes of a slide, its layout, its master or its notes (ECMA-376 part 1, 19.3). */
export class SlideReader {
  readonly remarks: Remarks;
  readonly #drawings: ReadonlyMap<string, string>;
  #title = '';
  readonly #body = new TextBlocks();
  readonly #edges: string[] = [];
  /** Numbers of a text's automatic lists, by level. */
  #counts: number[] = [];

  /** `drawings`: texts of charts and diagrams by relationship. */
  constructor(drawings: ReadonlyMap<string, string>, remarks: Remarks) {
    this.#drawings = drawings;
    this.remarks = remarks;
  }

  /** `only`: which shapes, by the type of their placeholder; undefined for one that is none. */
  read(root: XmlElement | undefined, only: (placeholder: string | undefined) => boolean): SlideText {
    this.#shapes(element(root, 'cSld', 'spTree'), only);
    return { title: this.#title, body: this.#body, edges: this.#edges };
  }

  #shapes(tree: XmlElement | undefined, only: (placeholder: string | undefined) => boolean): void {
    for (const shape of elements(tree)) {
      const general = elements(shape).find(({ name }) => /^nv.*Pr$/.test(name));
      const properties = element(general, 'cNvPr');
      if (properties && ['1', 'true'].includes(attribute(properties, 'hidden') ?? '')) this.#hidden(shape);
      else if (shape.name === 'grpSp') this.#shapes(shape, only);
      else if (shape.name === 'AlternateContent') this.#shapes(choice(shape), only);
      else {
        const mark = element(general, 'nvPr', 'ph');
        const placeholder = mark && (attribute(mark, 'type') ?? 'body');
        if (!only(placeholder)) continue;
        if (shape.name === 'sp' || shape.name === 'cxnSp') this.#shape(shape, placeholder);
        if (shape.name === 'graphicFrame') this.#frame(shape);
        if (shape.name === 'pic') this.#picture(properties);
      }
    }
  }

  #hidden(shape: XmlElement): void {
    if (descendants(shape, 't').length > 0 || shape.name === 'graphicFrame') this.remarks.add('hidden');
  }

  #shape(shape: XmlElement, placeholder: string | undefined): void {
    const body = element(shape, 'txBody');
    if (placeholder === 'sldNum' || placeholder === 'sldImg') return;
    if (placeholder === 'ftr' || placeholder === 'hdr' || placeholder === 'dt') {
      this.#edges.push(
        ...elements(body, 'p')
          .map((paragraph) => oneLine(paragraphText(paragraph)))
          .filter(Boolean),
      );
      return;
    }
    if (placeholder === 'title' || placeholder === 'ctrTitle') {
      const title = oneLine(elements(body, 'p').map(paragraphText).join(' '));
      this.#title = [this.#title, title].filter(Boolean).join(' ');
      return;
    }
    this.#counts = [];
    for (const paragraph of elements(body, 'p')) this.#paragraph(paragraph);
  }

  #paragraph(paragraph: XmlElement): void {
    const properties = element(paragraph, 'pPr');
    const level = Math.trunc(
      Math.max(Math.min(Number((properties && attribute(properties, 'lvl')) ?? 0) || 0, 9), 0),
    );
    const text = paragraphText(paragraph);
    const numbering = element(properties, 'buAutoNum');
    if (text.trim() === '') return;
    this.#counts.length = Math.min(this.#counts.length, numbering ? level + 1 : level);
    if (numbering) {
      const start = Number(attribute(numbering, 'startAt') ?? 1);
      const count = this.#counts[level] === undefined ? start : this.#counts[level] + 1;
      this.#counts[level] = count;
      this.#body.item(autoNumber(attribute(numbering, 'type') ?? '', count), text);
    } else if (element(properties, 'buChar')) this.#body.item('-', text, level);
    else this.#body.paragraph(text);
  }

  #picture(properties: XmlElement | undefined): void {
    const text = pictureText(properties && attribute(properties, 'descr'));
    if (text !== '') this.#body.paragraph(text);
  }

  /** A table, a chart, a diagram or an embedded object. */
  #frame(frame: XmlElement): void {
    const data = element(frame, 'graphic', 'graphicData');
    for (const child of elements(data)) {
      if (child.name === 'tbl') this.#body.paragraph(tableText(tableRows(child)));
      else if (child.name === 'chart') this.#drawn('chart', attribute(child, 'id'));
      else if (child.name === 'relIds') this.#drawn('diagram', attribute(child, 'dm'));
      else {
        const object = child.name === 'oleObj' ? child : descendants(child, 'oleObj')[0];
        if (object) this.remarks.add(`object:${attribute(object, 'progId') ?? 'unknown'}`);
      }
    }
  }

  #drawn(kind: string, id: string | undefined): void {
    const text = this.#drawings.get(id ?? '') ?? '';
    if (text === '') this.remarks.add(kind);
    else this.#body.include(text, []);
  }
}

/** Texts of the charts and diagrams that a part shows. */
export async function drawingsOf(pack: OfficePackage, path: string): Promise<Map<string, string>> {
  const drawings = new Map<string, string>();
  for (const [id, { type, target, external }] of await pack.relationships(path)) {
    if (external) continue;
    if (type === 'chart' || type === 'chartEx') drawings.set(id, chartText(await pack.xml(target)));
    if (type === 'diagramData') drawings.set(id, diagramText(await pack.xml(target)));
  }
  return drawings;
}

/** Text of a paragraph: runs, fields other than the slide's number, line breaks, formulas. */
export function paragraphText(paragraph: XmlElement): string {
  return elements(paragraph)
    .map((child) => {
      if (child.name === 'r') return textOf(element(child, 't'));
      if (child.name === 'br') return '\n';
      if (child.name === 'tab') return ' ';
      if (child.name === 'fld')
        return attribute(child, 'type') === 'slidenum' ? '' : textOf(element(child, 't'));
      if (child.name === 'AlternateContent') return paragraphText(choice(child) ?? child);
      if (child.name === 'm') return paragraphText(child);
      if (child.name === 'oMathPara') return paragraphText(child);
      if (child.name === 'oMath') return `$${mathText(child)}$`;
      return '';
    })
    .join('');
}

function choice(alternatives: XmlElement): XmlElement | undefined {
  return element(alternatives, 'Choice') ?? element(alternatives, 'Fallback');
}

/** Merged cells repeat their text (ECMA-376 part 1, 21.1.3.16). */
function tableRows(table: XmlElement): string[][] {
  const rows: string[][] = [];
  for (const row of elements(table, 'tr')) {
    const above = rows.at(-1) ?? [];
    const own = elements(row, 'tc');
    const count = own.filter((cell) => !isMerged(cell, 'hMerge')).length;
    const texts: string[] = [];
    for (const [i, cell] of own.entries()) {
      const before = texts[i - 1] ?? '';
      if (isMerged(cell, 'hMerge')) texts.push(isRepeated(before, count) ? before : '');
      else if (isMerged(cell, 'vMerge')) texts.push(above[i] ?? '');
      else texts.push(oneLine(elements(element(cell, 'txBody'), 'p').map(paragraphText).join(' ')));
    }
    rows.push(texts);
  }
  return rows;
}

function isMerged(cell: XmlElement, name: 'hMerge' | 'vMerge'): boolean {
  return ['1', 'true'].includes(attribute(cell, name) ?? '');
}

/** As in ECMA-376 part 1, 20.1.10.61: alphabet and what stands around, e.g. `alphaLcParenBoth`. */
function autoNumber(type: string, count: number): string {
  const [, alphabet = ''] = /^(alphaLc|alphaUc|romanLc|romanUc|arabic|circleNum|ea1Chs)/.exec(type) ?? [];
  const formats: Readonly<Record<string, string>> = {
    alphaLc: 'lowerLetter',
    alphaUc: 'upperLetter',
    romanLc: 'lowerRoman',
    romanUc: 'upperRoman',
    circleNum: 'decimalEnclosedCircle',
    ea1Chs: 'chineseCounting',
  };
  const number = formatNumber(count, formats[alphabet] ?? 'decimal');
  if (type.endsWith('ParenBoth')) return `(${number})`;
  return type.endsWith('ParenR') ? `${number})` : type.endsWith('Plain') ? number : `${number}.`;
}
