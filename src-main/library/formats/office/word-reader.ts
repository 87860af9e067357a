import { tableText } from '../tables/table.ts';
import { attribute, element, elements, textOf, type XmlElement } from '../xml.ts';
import { oneLine, Remarks, TextBlocks } from './blocks.ts';
import { mathText } from './math.ts';
import { PAGE_NUMBER } from './page-numbers.ts';
import { symbolOf } from './symbols.ts';
import { chosenOf, drawnContents } from './word-drawing.ts';
import { WordFields } from './word-fields.ts';
import { formatNumber, isOn, value, type WordNumbers } from './word-numbers.ts';
import type { WordPart } from './word-part.ts';
import { headingLevel, hidesText, styleChain, type WordStyle } from './word-styles.ts';
import { hasHeader, plainRows, readRows } from './word-table.ts';

interface WordSources {
  styles: ReadonlyMap<string, WordStyle>;
  numbers: WordNumbers;
  footnotes: WordPart;
  endnotes: WordPart;
  comments: WordPart;
}

/** Elements whose text is not shown. */
const SILENT = new Set(
  'pPr rPr sdtPr sdtEndPr delText delInstrText footnoteRef endnoteRef annotationRef'.split(' '),
);

/** Reads the text of a Word document's parts as it is shown (ECMA-376 part 1, 17). Keeps count of what it leaves out. */
export class WordReader {
  readonly remarks = new Remarks();
  readonly sections: XmlElement[] = [];
  readonly #sources: WordSources;
  #part: WordPart;
  #fields = new WordFields(false);
  /** Text of paragraphs whose marks are deleted: it belongs to the next one. */
  #joined = '';
  #hidden = false;
  #inCell = false;
  /** Text boxes, charts, notes and comments: they follow the paragraph that holds them. */
  #after: ((out: TextBlocks) => void)[] = [];
  /** Notes and comments of a table's cells: they follow the table. */
  #afterTable: ((out: TextBlocks) => void)[] = [];
  readonly #notes = new Map<WordPart, Map<string | undefined, XmlElement>>();
  readonly #noteNumbers = { footnote: 0, endnote: 0 };

  constructor(sources: WordSources, part: WordPart) {
    this.#sources = sources;
    this.#part = part;
  }

  /** The text of a part. `isEdge`: of a header or footer, with marks for the numbers of pages. */
  read(part: WordPart, root: XmlElement | undefined, isEdge = false): TextBlocks {
    const saved = { part: this.#part, fields: this.#fields, joined: this.#joined, hidden: this.#hidden };
    this.#part = part;
    this.#fields = new WordFields(isEdge);
    this.#joined = '';
    const out = new TextBlocks();
    this.#blocks(root, out);
    this.#flushJoined(out);
    this.#part = saved.part;
    this.#fields = saved.fields;
    this.#joined = saved.joined;
    this.#hidden = saved.hidden;
    return out;
  }

  #blocks(parent: XmlElement | undefined, out: TextBlocks): void {
    for (const child of elements(parent)) {
      switch (child.name) {
        case 'p':
          this.#paragraph(child, out);
          break;
        case 'tbl':
          this.#flushJoined(out);
          this.#table(child, out);
          break;
        case 'altChunk':
          this.#chunk(child, out);
          break;
        case 'sectPr':
          this.sections.push(child);
          break;
        case 'AlternateContent':
          this.#blocks(chosenOf(child), out);
          break;
        case 'oMath':
        case 'oMathPara':
          out.paragraph(this.#inlineElement(child));
          break;
        case 'sdt':
        case 'sdtContent':
        case 'customXml':
        case 'ins':
        case 'moveTo':
          this.#blocks(child, out);
          break;
        default:
      }
    }
  }

  #paragraph(paragraph: XmlElement, out: TextBlocks): void {
    const properties = element(paragraph, 'pPr');
    const mark = element(properties, 'rPr');
    const styles = styleChain(this.#sources.styles, value(properties, 'pStyle'));
    const section = element(properties, 'sectPr');
    if (section) this.sections.push(section);
    this.#hidden = hidesText(styles);
    const text = this.#joined + this.#inline(paragraph);
    this.#joined = '';
    this.#fields.endParagraph();
    const dropCap = element(properties, 'framePr');
    const isDropCap = ['drop', 'margin'].includes((dropCap && attribute(dropCap, 'dropCap')) ?? '');
    if (isDropCap || (element(mark, 'del') ?? element(mark, 'moveFrom'))) this.#joined = text;
    else if (text.trim() !== '' || !element(mark, 'vanish')) this.#place(text, properties, styles, out);
    this.#flushAfter(out);
  }

  #place(
    text: string,
    properties: XmlElement | undefined,
    styles: [string, WordStyle][],
    out: TextBlocks,
  ): void {
    const [number, depth] = this.#number(properties, styles);
    const level = headingLevel(properties, styles);
    if (level > 0 && !this.#inCell)
      out.heading(level, text.trim() === '' ? '' : `${number === '-' ? '' : number} ${text}`);
    else if (number !== '') out.item(number, text, number === '-' ? depth : 0);
    else out.paragraph(text);
  }

  /** The number before a paragraph, and its level. */
  #number(properties: XmlElement | undefined, styles: [string, WordStyle][]): [string, number] {
    const { numbers } = this.#sources;
    const own = element(properties, 'numPr');
    const owner = styles.find(
      ([, { paragraph }]) => value(element(paragraph, 'numPr'), 'numId') !== undefined,
    );
    const inherited = element(owner?.[1].paragraph, 'numPr');
    const instance = value(own, 'numId') ?? value(inherited, 'numId') ?? '0';
    if (instance === '0' || (own && element(own, 'del'))) return ['', 0];
    const styleLevels = styles.map(([id]) => numbers.levelOfStyle(instance, id));
    const bound =
      value(own, 'numId') === undefined ? styleLevels.find((level) => level !== undefined) : undefined;
    const level = Number(value(own, 'ilvl') ?? bound ?? value(inherited, 'ilvl') ?? 0);
    return [numbers.next(instance, level), level];
  }

  #flushJoined(out: TextBlocks): void {
    out.paragraph(this.#joined);
    this.#joined = '';
  }

  #flushAfter(out: TextBlocks): void {
    const after = this.#after;
    const fields = this.#fields;
    const joined = this.#joined;
    this.#after = [];
    this.#joined = '';
    this.#fields = new WordFields(false);
    for (const add of after) add(out);
    this.#fields = fields;
    this.#joined = joined;
  }

  #table(table: XmlElement, out: TextBlocks): void {
    const wasInCell = this.#inCell;
    this.#inCell = true;
    const rows = readRows(
      table,
      (cell) => this.#cell(cell),
      (kind) => this.remarks.add(kind),
    );
    this.#inCell = wasInCell;
    if (wasInCell) {
      out.paragraph(`(${tableText(rows).replace(/^- /, '').replaceAll('\n- ', ' / ')})`);
      return;
    }
    if (rows.every((row) => row.length <= 1)) for (const [only = ''] of rows) out.include(only, []);
    else out.paragraph(hasHeader(table) ? tableText(rows) : plainRows(rows));
    for (const add of this.#afterTable.splice(0)) add(out);
  }

  #cell(cell: XmlElement): string {
    const out = new TextBlocks();
    this.#blocks(cell, out);
    this.#flushJoined(out);
    return out.text;
  }

  #chunk(node: XmlElement, out: TextBlocks): void {
    const chunk = this.#part.chunks.get(attribute(node, 'id') ?? '');
    if (chunk) out.include(chunk.text, chunk.headings);
    else this.remarks.add('chunk');
  }

  #inline(parent: XmlElement): string {
    return elements(parent)
      .map((child) => this.#inlineElement(child))
      .join('');
  }

  #inlineElement(node: XmlElement): string {
    const { name } = node;
    if (SILENT.has(name)) return '';
    if (name === 'del' || name === 'moveFrom' || name === 'ins' || name === 'moveTo')
      return this.#change(node);
    if (name === 'r') return this.#run(node);
    if (name === 't') return this.#text(textOf(node), '');
    if (name === 'AlternateContent') return this.#inline(chosenOf(node));
    if (name === 'drawing' || name === 'pict' || name === 'object') return this.#drawing(node);
    if (name === 'oMathPara')
      return this.#fields.shown(
        elements(node, 'oMath')
          .map((math) => `$${mathText(math)}$`)
          .join('\n'),
      );
    if (name === 'oMath') return this.#fields.shown(`$${mathText(node)}$`);
    if (name === 'fldSimple')
      return this.#fields.isPageNumber(attribute(node, 'instr') ?? '') ? PAGE_NUMBER : this.#inline(node);
    if (name === 'ruby') return `${this.#inlineOf(node, 'rubyBase')}(${this.#inlineOf(node, 'rt')})`;
    if (name === 'sdt' && element(node, 'sdtPr', 'showingPlcHdr'))
      return `[${this.#inlineOf(node, 'sdtContent')}]`;
    if (name === 'subDoc') this.remarks.add('chunk');
    return this.#inline(node);
  }

  #inlineOf(node: XmlElement, name: string): string {
    const child = element(node, name);
    return child ? this.#inline(child) : '';
  }

  #change(node: XmlElement): string {
    this.remarks.add({ del: 'deletion', ins: 'insertion', moveTo: 'move' }[node.name] ?? '');
    return node.name === 'ins' || node.name === 'moveTo' ? this.#inline(node) : '';
  }

  #run(run: XmlElement): string {
    const properties = element(run, 'rPr');
    const style = styleChain(this.#sources.styles, value(properties, 'rStyle'));
    const vanish =
      element(properties, 'vanish') ?? style.map(([, each]) => element(each.run, 'vanish')).find(Boolean);
    if (vanish ? isOn(vanish) : this.#hidden) {
      if (textOf(run).trim() !== '') this.remarks.add('hidden');
      for (const child of elements(run, 'fldChar')) this.#fields.mark(child);
      return '';
    }
    const fonts = element(properties, 'rFonts');
    const font = (fonts && attribute(fonts, 'ascii')) ?? '';
    return elements(run)
      .map((child) => this.#runPart(child, font))
      .join('');
  }

  #runPart(node: XmlElement, font: string): string {
    switch (node.name) {
      case 't':
        return this.#text(textOf(node), font);
      case 'tab':
      case 'ptab':
        return this.#fields.shown('\t');
      case 'br':
      case 'cr':
        return this.#fields.shown('\n');
      case 'noBreakHyphen':
        return this.#fields.shown('-');
      case 'softHyphen':
        return '';
      case 'sym':
        return this.#fields.shown(
          this.#symbol(attribute(node, 'font') ?? '', parseInt(attribute(node, 'char') ?? '', 16)),
        );
      case 'pgNum':
        return this.#fields.isPageNumber('PAGE') ? PAGE_NUMBER : '';
      case 'fldChar':
        return this.#fields.mark(node);
      case 'instrText':
        this.#fields.addInstruction(textOf(node));
        return '';
      case 'footnoteReference':
        return this.#note(node, 'footnote');
      case 'endnoteReference':
        return this.#note(node, 'endnote');
      case 'commentReference':
        return this.#comment(node);
      default:
        return this.#inlineElement(node);
    }
  }

  #text(text: string, font: string): string {
    const known = text.replaceAll(PAGE_NUMBER, '');
    if (!/^(symbol|wingdings)/i.test(font)) return this.#fields.shown(known);
    return this.#fields.shown(
      Array.from(known, (letter) =>
        letter === ' ' ? ' ' : this.#symbol(font, letter.codePointAt(0) ?? 0),
      ).join(''),
    );
  }

  #symbol(font: string, code: number): string {
    const symbol = Number.isNaN(code) ? undefined : symbolOf(font, code);
    if (symbol === undefined) this.remarks.add(`symbol:${font}`);
    return symbol ?? '';
  }

  #note(node: XmlElement, kind: 'footnote' | 'endnote'): string {
    const part = kind === 'footnote' ? this.#sources.footnotes : this.#sources.endnotes;
    const note = this.#byId(part, node);
    if (!note) return '';
    this.#noteNumbers[kind] += 1;
    const number = `[${formatNumber(this.#noteNumbers[kind], kind === 'endnote' ? 'lowerRoman' : 'decimal')}]`;
    this.#behind().push((out) => out.paragraph(`${number} ${this.read(part, note).text}`));
    return this.#fields.shown(number);
  }

  #behind(): ((out: TextBlocks) => void)[] {
    return this.#inCell ? this.#afterTable : this.#after;
  }

  /** The note or comment that a reference leads to. */
  #byId(part: WordPart, reference: XmlElement): XmlElement | undefined {
    const known =
      this.#notes.get(part) ?? new Map(elements(part.root).map((note) => [attribute(note, 'id'), note]));
    this.#notes.set(part, known);
    return known.get(attribute(reference, 'id'));
  }

  #comment(node: XmlElement): string {
    const part = this.#sources.comments;
    const comment = this.#byId(part, node);
    if (!comment) return '';
    const author = attribute(comment, 'author') ?? '';
    this.#behind().push((out) => {
      const { text } = this.read(part, comment);
      if (text !== '') out.paragraph(`[Comment${author === '' ? '' : ` by ${author}`}: ${oneLine(text)}]`);
    });
    return '';
  }

  #drawing(node: XmlElement): string {
    for (const drawn of drawnContents(node, this.#part.drawings)) {
      if ('remark' in drawn) this.remarks.add(drawn.remark);
      else if ('box' in drawn) this.#after.push((out) => this.#box(drawn.box, out));
      else this.#after.push((out) => out.include(drawn.text, []));
    }
    return '';
  }

  #box(content: XmlElement, out: TextBlocks): void {
    const hidden = this.#hidden;
    this.#blocks(content, out);
    this.#flushJoined(out);
    this.#hidden = hidden;
  }
}
