import { attribute, element, elements, type XmlElement } from '../xml.ts';
import { builtInFormat } from './cell-value.ts';

/** What a cell's style says about its text. */
export interface CellStyle {
  format: string;
  bold: boolean;
}

/** The styles that cells refer to by their index (ECMA-376 part 1, 18.8). */
export function readStyles(root: XmlElement | undefined): CellStyle[] {
  const formats = new Map(
    elements(element(root, 'numFmts'), 'numFmt').map((format) => [
      Number(attribute(format, 'numFmtId')),
      attribute(format, 'formatCode') ?? '',
    ]),
  );
  const bold = elements(element(root, 'fonts'), 'font').map((font) => {
    const mark = element(font, 'b');
    return mark !== undefined && !/^(?:0|false|off)$/.test(attribute(mark, 'val') ?? '');
  });
  return elements(element(root, 'cellXfs'), 'xf').map((style) => {
    const id = Number(attribute(style, 'numFmtId') ?? 0);
    return {
      format: formats.get(id) ?? builtInFormat(id),
      bold: bold[Number(attribute(style, 'fontId') ?? 0)] ?? false,
    };
  });
}
