import { tableText } from '../tables/table.ts';
import { attribute, descendants, element, elements, textOf, type XmlElement } from '../xml.ts';
import { pictureText } from '../pictures.ts';
import { oneLine, Remarks, TextBlocks } from './blocks.ts';
import type { OdfStyles } from './odf-styles.ts';
import { edgeLines, PAGE_NUMBER } from './page-numbers.ts';
import { formatNumber } from './word-numbers.ts';

/** Elements whose text is not shown at their place. */
const SILENT = new Set(
  'tracked-changes forms sequence-decls variable-decls user-field-decls title desc image annotation-end meta page-thumbnail event-listeners glue-point'.split(
    ' ',
  ),
);

/** Tables repeat empty rows and cells by the million. */
const MAX_REPEATED = 100;

/** Reads text as it is shown (OpenDocument 1.3 part 3, 5). */
export class OdfReader {
  readonly remarks = new Remarks();
  readonly #styles: OdfStyles;
  /** Texts of charts and formulas by the folder of their part. */
  readonly #objects: ReadonlyMap<string, string>;
  #after: ((out: TextBlocks) => void)[] = [];
  /** Footnotes and endnotes so far. */
  readonly #notes: [number, number] = [0, 0];
  #inCell = false;
  #isEdge = false;

  constructor(styles: OdfStyles, objects: ReadonlyMap<string, string>) {
    this.#styles = styles;
    this.#objects = objects;
  }

  read(parent: XmlElement | undefined): TextBlocks {
    const out = new TextBlocks();
    this.#blocks(parent, out);
    return out;
  }

  edgeLines(edge: XmlElement): string[] {
    this.#isEdge = true;
    const { text } = this.read(edge);
    this.#isEdge = false;
    return edgeLines(text);
  }

  #blocks(parent: XmlElement | undefined, out: TextBlocks): void {
    for (const child of elements(parent)) this.#block(child, out);
  }

  #block(node: XmlElement, out: TextBlocks): void {
    switch (node.name) {
      case 'h':
      case 'p':
        this.#paragraph(node, out);
        return;
      case 'list':
        this.#list(node, out, 0, undefined);
        return;
      case 'table':
        this.#table(node, out);
        return;
      case 'tracked-changes':
        for (const kind of ['insertion', 'deletion']) {
          for (const _ of descendants(node, kind)) this.remarks.add(kind);
        }
        return;
      case 'section':
        if (attribute(node, 'display') === 'none') this.remarks.add('hidden');
        else this.#blocks(node, out);
        return;
      case 'object': {
        const folder = (attribute(node, 'href') ?? '').replace(/^\.\//, '').replace(/\/$/, '');
        const text = this.#objects.get(folder) ?? '';
        if (text !== '') out.include(text, []);
        else this.remarks.add(`object:${folder === '' ? 'without a name' : folder}`);
        return;
      }
      case 'frame':
        if (element(node, 'image') && !element(node, 'object')) this.#picture(node, out);
        this.#blocks(node, out);
        return;
      case 'annotation':
        this.#annotation(node, out);
        return;
      case 'notes':
        return;
      default:
        if (!SILENT.has(node.name) && !node.name.endsWith('-source')) this.#blocks(node, out);
    }
  }

  #paragraph(node: XmlElement, out: TextBlocks): void {
    const text = this.#paragraphText(node);
    const style = attribute(node, 'style-name');
    const level =
      node.name === 'h' ? Number(attribute(node, 'outline-level') ?? 1) : this.#styles.isTitle(style) ? 1 : 0;
    if (level === 0 || this.#inCell) out.paragraph(text);
    else {
      const numbered =
        node.name === 'h' && text.trim() !== '' && attribute(node, 'is-list-header') !== 'true';
      const number = numbered ? this.#styles.next('', level - 1, undefined) : '';
      out.heading(level, `${number === '-' ? '' : number} ${text}`);
    }
    this.#flush(out);
  }

  #paragraphText(node: XmlElement): string {
    const hides = descendants(node, 'hidden-paragraph').some(
      (mark) => attribute(mark, 'is-hidden') === 'true',
    );
    if (hides || this.#styles.isHidden(attribute(node, 'style-name'))) {
      if (textOf(node).trim() !== '') this.remarks.add('hidden');
      return '';
    }
    return this.#inline(node);
  }

  #flush(out: TextBlocks): void {
    const after = this.#after;
    this.#after = [];
    for (const add of after) add(out);
  }

  #list(list: XmlElement, out: TextBlocks, depth: number, inherited: string | undefined): void {
    const style = attribute(list, 'style-name') ?? inherited ?? 'none';
    const goesOn =
      attribute(list, 'continue-numbering') === 'true' || attribute(list, 'continue-list') !== undefined;
    if (depth === 0 && !goesOn) this.#styles.restart(style);
    for (const item of elements(list)) {
      const start = attribute(item, 'start-value');
      let isFirst = item.name === 'list-item';
      for (const child of elements(item)) {
        if (child.name === 'list') this.#list(child, out, depth + 1, style);
        else if (child.name === 'p' && isFirst) {
          const mark = this.#styles.next(style, depth, start === undefined ? undefined : Number(start));
          const text = this.#paragraphText(child);
          if (mark === '') out.paragraph(text);
          else out.item(mark, text, mark === '-' ? depth : 0);
          this.#flush(out);
        } else this.#block(child, out);
        if (child.name !== 'list') isFirst = false;
      }
    }
  }

  #table(table: XmlElement, out: TextBlocks): void {
    const wasInCell = this.#inCell;
    this.#inCell = true;
    const rows: string[][] = [];
    const open = new Map<number, { rows: number; text: string }>();
    for (const row of rowsOf(table)) {
      const cells: string[] = [];
      for (const cell of elements(row)) {
        if (cell.name !== 'table-cell' && cell.name !== 'covered-table-cell') continue;
        const times = Math.min(Number(attribute(cell, 'number-columns-repeated') ?? 1), MAX_REPEATED);
        for (let i = 0; i < times; i += 1) cells.push(this.#cell(cell, open, cells.length));
      }
      rows.push(cells);
    }
    this.#inCell = wasInCell;
    const text = tableText(rows);
    if (wasInCell) out.paragraph(`(${text.replace(/^- /, '').replaceAll('\n- ', ' / ')})`);
    else if (rows.every((row) => row.length <= 1)) for (const [only = ''] of rows) out.include(only, []);
    else out.paragraph(text);
  }

  /** A cell's text; a merged one repeats it downwards. */
  #cell(cell: XmlElement, open: Map<number, { rows: number; text: string }>, column: number): string {
    const above = open.get(column);
    if (cell.name === 'covered-table-cell') {
      if (!above || above.rows <= 0) return '';
      above.rows -= 1;
      return above.text;
    }
    const text = this.read(cell).text;
    open.set(column, { rows: Number(attribute(cell, 'number-rows-spanned') ?? 1) - 1, text });
    return text;
  }

  #inline(parent: XmlElement): string {
    return parent.children
      .map((child) =>
        typeof child === 'string'
          ? child.replace(/\s+/g, ' ').replaceAll(PAGE_NUMBER, '')
          : this.#inlineElement(child),
      )
      .join('');
  }

  #inlineElement(node: XmlElement): string {
    switch (node.name) {
      case 's':
      case 'tab':
        return ' ';
      case 'line-break':
        return '\n';
      case 'page-number':
      case 'page-count':
        return this.#isEdge ? PAGE_NUMBER : this.#inline(node);
      case 'note':
        return this.#note(node);
      case 'annotation':
        this.#after.push((out) => this.#annotation(node, out));
        return '';
      case 'ruby':
        return `${textOf(element(node, 'ruby-base'))}(${textOf(element(node, 'ruby-text'))})`;
      case 'hidden-text':
        if (attribute(node, 'is-hidden') !== 'false') this.remarks.add('hidden');
        return attribute(node, 'is-hidden') === 'false' ? this.#inline(node) : '';
      case 'span':
        if (!this.#styles.isHidden(attribute(node, 'style-name'))) return this.#inline(node);
        this.remarks.add('hidden');
        return '';
      case 'frame':
      case 'g':
      case 'custom-shape':
      case 'rect':
      case 'ellipse':
      case 'line':
      case 'polygon':
      case 'path':
      case 'connector':
      case 'caption':
        return this.#drawing(node);
      default:
        return SILENT.has(node.name) ? '' : this.#inline(node);
    }
  }

  /** A formula stands in its line; other drawings follow the paragraph. */
  #drawing(node: XmlElement): string {
    const object = element(node, 'object');
    const folder = ((object && attribute(object, 'href')) ?? '').replace(/^\.\//, '');
    const text = this.#objects.get(folder);
    if (text?.startsWith('$') === true) return text;
    this.#after.push((out) => this.#block(node, out));
    return '';
  }

  #picture(frame: XmlElement, out: TextBlocks): void {
    const text = pictureText(textOf(element(frame, 'desc') ?? element(frame, 'title')));
    if (text !== '') out.paragraph(text);
  }

  #note(node: XmlElement): string {
    const isEndnote = attribute(node, 'note-class') === 'endnote';
    this.#notes[isEndnote ? 1 : 0] += 1;
    const number = `[${isEndnote ? formatNumber(this.#notes[1], 'lowerRoman') : this.#notes[0]}]`;
    this.#after.push((out) => out.paragraph(`${number} ${this.read(element(node, 'note-body')).text}`));
    return number;
  }

  #annotation(node: XmlElement, out: TextBlocks): void {
    const author = textOf(element(node, 'creator'));
    const text = oneLine(
      elements(node)
        .filter(({ name }) => name === 'p' || name === 'list')
        .map((each) => textOf(each))
        .join(' '),
    );
    if (text !== '') out.paragraph(`[Comment${author === '' ? '' : ` by ${author}`}: ${text}]`);
  }
}

function rowsOf(table: XmlElement): XmlElement[] {
  return elements(table).flatMap((child) => {
    if (child.name === 'table-row') return [child];
    return /^table-(header-rows|rows|row-group)$/.test(child.name) ? rowsOf(child) : [];
  });
}
