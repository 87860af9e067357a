import type { Glyph } from './glyph.ts';
import type { Line } from './layout.ts';
import { boxOf, type Box, type Matrix } from './matrix.ts';

/** The part of pdf.js's data on an annotation (ISO 32000-2, 12.5) that is read here. */
export interface Annotation {
  id: string;
  subtype: string;
  annotationFlags: number;
  rect: Box;
  contentsObj?: { str: string };
  /** The author. */
  titleObj?: { str: string };
  /** Text beneath a highlight. */
  overlaidText?: string;
  stateModel?: string;
  fieldType?: 'Tx' | 'Btn' | 'Ch' | 'Sig';
  fieldName?: string;
  /** A label for people. */
  alternativeText?: string;
  fieldValue?: unknown;
  checkBox?: boolean;
  radioButton?: boolean;
  exportValue?: string;
  buttonValue?: string;
  password?: boolean;
  options?: readonly { exportValue: string; displayValue: string }[];
  defaultAppearanceData?: { fontSize: number };
}

/** Hidden, and NoView (table 167). */
const UNSEEN_FLAGS = 2 | 32;
const MAX_TEXT_SIZE = 12;
/** With more pairs of fields and letters, labels are not looked for. */
const MAX_COMPARISONS = 50_000_000;

/** Whether an annotation's text is taken from its values, not from how it is drawn, which many files leave out. */
export function isReadAsData({
  subtype,
  fieldType,
  checkBox,
  radioButton,
  contentsObj,
  ...rest
}: Annotation): boolean {
  if (subtype === 'FreeText') return Boolean(contentsObj?.str);
  if (subtype !== 'Widget') return false;
  if (rest.password) return true;
  return fieldType === 'Tx' || fieldType === 'Ch' || checkBox === true || radioButton === true;
}

/** Values of form fields, and text typed onto the page, at their places. Fields without text beside them get their name. */
export function fieldGlyphs(
  annotations: readonly Annotation[],
  matrix: Matrix,
  drawn: readonly Glyph[],
): Glyph[] {
  const isNamed = annotations.length * drawn.length < MAX_COMPARISONS;
  return annotations.flatMap((annotation) => {
    const lines = isShown(annotation) ? valueOf(annotation).split(/\r\n?|\n/) : [];
    if (lines.every((line) => line.trim() === '')) return [];
    const [x0, y0, x1, y1] = boxOf(matrix, annotation.rect);
    const given = annotation.defaultAppearanceData?.fontSize ?? 0;
    const size = given > 0 ? given : Math.min(MAX_TEXT_SIZE, Math.max(4, (y1 - y0) * 0.7));
    const box: Box = [x0, y0, x1, y1];
    const name =
      isNamed && annotation.subtype === 'Widget' && !isLabelled(box, drawn) ? nameOf(annotation) : '';
    const first = lines.length === 1 && y1 - y0 < 2.5 * size ? (y0 + y1) / 2 - 0.35 * size : y1 - 1.2 * size;
    return lines.map((line, i) => ({
      text: i === 0 && name !== '' ? `${name}: ${line.trim()}` : line.trim(),
      x: x0,
      end: Math.min(x1, x0 + line.length * size * 0.5),
      y: first - i * 1.2 * size,
      ...{ size, turn: 0, fixed: false, hidden: '' as const },
    }));
  });
}

function isShown({ annotationFlags }: Annotation): boolean {
  return (annotationFlags & UNSEEN_FLAGS) === 0;
}

function valueOf(annotation: Annotation): string {
  const { subtype, contentsObj, fieldValue, checkBox, radioButton, exportValue, buttonValue, options } =
    annotation;
  if (subtype === 'FreeText') return contentsObj?.str ?? '';
  if (annotation.password) return '';
  if (checkBox) return isOn(fieldValue) && (!exportValue || fieldValue === exportValue) ? '[x]' : '[ ]';
  if (radioButton) return isOn(fieldValue) && fieldValue === buttonValue ? '[x]' : '[ ]';
  const values: unknown[] = Array.isArray(fieldValue) ? fieldValue : [fieldValue];
  const texts = values.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
  return texts
    .map((text) => options?.find((each) => each.exportValue === text)?.displayValue ?? text)
    .join(', ');
}

function isOn(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value !== 'Off';
}

/** Whether text stands beside the box or close above it. */
function isLabelled([x0, y0, x1, y1]: Box, drawn: readonly Glyph[]): boolean {
  return drawn.some(({ text, x, y, size, turn }) => {
    if (text.trim() === '' || turn !== 0) return false;
    const isBeside = y > y0 - size / 2 && y < y1;
    return isBeside || (y >= y1 && y < y1 + 1.5 * size && x > x0 - 2 * size && x < x1);
  });
}

function nameOf({ alternativeText, fieldName }: Annotation): string {
  const name = alternativeText?.trim() || (fieldName?.split('.').at(-1) ?? '');
  return name.replace(/\[\d+\]$/, '').replace(/[:\s]+$/, '');
}

const SKIPPED = new Set(['FreeText', 'Widget', 'Popup', 'Link', 'FileAttachment']);

/** Comments on a page, each as a paragraph for the end of its text. */
export function commentLines(annotations: readonly Annotation[]): Line[] {
  return annotations.flatMap((annotation) => {
    const { subtype, contentsObj, titleObj, overlaidText, stateModel } = annotation;
    const text = contentsObj?.str.replace(/\s+/g, ' ').trim() ?? '';
    const marked = overlaidText?.replace(/\s+/g, ' ').trim() ?? '';
    if (SKIPPED.has(subtype) || stateModel || !isShown(annotation)) return [];
    const on = marked === '' ? '' : ` on “${marked}”`;
    const by = titleObj?.str.trim() ? ` by ${titleObj.str.trim()}` : '';
    if (text !== '') return [paragraph(`[Comment${by}${on}: ${text}]`)];
    return subtype === 'StrikeOut' && marked !== '' ? [paragraph(`[Struck out${by}: “${marked}”]`)] : [];
  });
}

function paragraph(text: string): Line {
  return { text, y: 0, height: 0, left: 0, right: 0, letterWidth: 0, apart: true };
}
