import { tableText } from '../tables/table.ts';
import { attribute, descendants, element, elements, textOf, type XmlElement } from '../xml.ts';
import { oneLine } from './blocks.ts';

/** A chart as a line with its title and a line for each category (ECMA-376 part 1, 21.2); '' if it keeps no values. */
export function chartText(chart: XmlElement | undefined): string {
  const plot = descendants(chart, 'plotArea')[0];
  const series = descendants(plot, 'ser');
  const title = titleOf(descendants(chart, 'chart')[0]) || (series.length === 1 ? seriesName(series[0]) : '');
  const axes = elements(plot)
    .filter(({ name }) => name.endsWith('Ax'))
    .map(titleOf)
    .filter(Boolean);
  const rows = series.length > 0 ? seriesRows(series) : extendedRows(chart);
  const head = [title, axes.length > 0 ? `axes: ${axes.join(', ')}` : ''].filter(Boolean).join('; ');
  if (rows === '' && head === '') return '';
  return [`Chart${head === '' ? '' : `: ${head}`}`, rows].filter(Boolean).join('\n');
}

/** Text of the title of a chart or an axis: written, or copied from a cell. */
function titleOf(parent: XmlElement | undefined): string {
  const title = element(parent, 'title');
  return oneLine(paragraphsOf(title).join(' ') || cached(title).join(' '));
}

function seriesName(series: XmlElement | undefined): string {
  return oneLine(cached(element(series, 'tx')).join(' ') || textOf(element(series, 'tx', 'v')));
}

function seriesRows(series: readonly XmlElement[]): string {
  const names = series.map(seriesName);
  const rows = new Map<string, string[]>();
  series.forEach((each, i) => {
    const categories = cached(element(each, 'cat') ?? element(each, 'xVal'));
    const values = cached(element(each, 'val') ?? element(each, 'yVal'));
    const sizes = cached(element(each, 'bubbleSize'));
    values.forEach((value, at) => {
      const category = categories[at] ?? String(at + 1);
      const row = rows.get(`${at} ${category}`) ?? [category, ...names.map(() => '')];
      row[i + 1] = sizes[at] === undefined ? value : `${value} (size ${sizes[at]})`;
      rows.set(`${at} ${category}`, row);
    });
  });
  if (series.length === 1)
    return [...rows.values()].map(([category, value]) => `- ${category}: ${value}`).join('\n');
  return tableText([['Category', ...names.map((name, i) => name || `Series ${i + 1}`)], ...rows.values()]);
}

/** Values that a chart keeps of its sheet, by their places. Categories of several levels are joined, the outermost first. */
function cached(parent: XmlElement | undefined): string[] {
  const levels = descendants(parent, 'lvl');
  if (levels.length > 1) {
    const [inner = [], ...outer] = levels.map((level) => points(level, ''));
    const above = outer.reverse();
    return inner.map((label, i) =>
      [...above.map((level) => level.slice(0, i + 1).findLast(Boolean) ?? ''), label].join(' '),
    );
  }
  const cache = [
    ...descendants(parent, 'strCache'),
    ...descendants(parent, 'numCache'),
    ...levels,
    ...elements(parent, 'strLit'),
    ...elements(parent, 'numLit'),
  ][0];
  return cache === undefined ? [] : points(cache, textOf(element(cache, 'formatCode')));
}

/** More points than this are no chart that a person reads. */
const MAX_POINTS = 100_000;

function points(cache: XmlElement, format: string): string[] {
  const values: (string | undefined)[] = [];
  for (const point of elements(cache, 'pt')) {
    const at = Number(attribute(point, 'idx') ?? values.length);
    if (at >= 0 && at < MAX_POINTS)
      values[at] = shown(oneLine(textOf(point)), attribute(point, 'formatCode') ?? format);
  }
  return Array.from(values, (value) => value ?? '');
}

/** A value in the form of its number format, as far as it changes the meaning: percentages and dates. */
function shown(value: string, format: string): string {
  const number = Number(value);
  if (value === '' || Number.isNaN(number)) return value;
  const rounded = (x: number): string => String(Number(x.toPrecision(12)));
  if (format.includes('%')) return `${rounded(number * 100)}%`;
  const letters = format.replace(/"[^"]*"|\[[^\]]*\]|\\./g, '');
  if (!/[yd]/i.test(letters) || /general/i.test(letters)) return rounded(number);
  // Day 1 is 1 January 1900, and 1900 counts as a leap year (ECMA-376 part 1, 18.17.4.1).
  const date = new Date(Date.UTC(1899, 11, 30) + number * 86_400_000);
  return Number.isNaN(date.getTime()) ? rounded(number) : date.toISOString().slice(0, 10);
}

/** Newer kinds of charts (waterfall, funnel, treemap): labels and values stand apart from the series. */
function extendedRows(chart: XmlElement | undefined): string {
  const lines = descendants(chart, 'data').flatMap((data) => {
    const labels = elements(data, 'strDim').flatMap((dimension) => elements(dimension, 'lvl').slice(0, 1));
    const numbers = elements(data, 'numDim').flatMap((dimension) => elements(dimension, 'lvl').slice(0, 1));
    const names = labels[0] ? points(labels[0], '') : [];
    return (numbers[0] ? points(numbers[0], '') : names.map(() => '')).map(
      (value, i) => `- ${[names[i], value].filter(Boolean).join(': ')}`,
    );
  });
  return lines.join('\n');
}

/** A diagram (SmartArt) as one line for each of its points, nested as they are (ECMA-376 part 1, 21.4). */
export function diagramText(model: XmlElement | undefined): string {
  const points = elements(element(model, 'ptLst'), 'pt');
  const texts = new Map(
    points.map((point) => [attribute(point, 'modelId') ?? '', oneLine(paragraphsOf(point).join(' '))]),
  );
  const below = new Map<string, string[]>();
  const inner = new Set<string>();
  for (const link of elements(element(model, 'cxnLst'), 'cxn')) {
    if ((attribute(link, 'type') ?? 'parOf') !== 'parOf') continue;
    const [parent, child] = [attribute(link, 'srcId') ?? '', attribute(link, 'destId') ?? ''];
    below.set(parent, [...(below.get(parent) ?? []), child]);
    inner.add(child);
  }
  const lines: string[] = [];
  const seen = new Set<string>();
  const visit = (id: string, depth: number): void => {
    if (seen.has(id) || depth > 50) return;
    seen.add(id);
    const text = texts.get(id) ?? '';
    if (text !== '') lines.push(`${'  '.repeat(depth)}- ${text}`);
    for (const child of below.get(id) ?? []) visit(child, text === '' ? depth : depth + 1);
  };
  for (const id of texts.keys()) if (!inner.has(id)) visit(id, 0);
  for (const id of texts.keys()) visit(id, 0);
  return lines.length === 0 ? '' : ['Diagram:', ...lines].join('\n');
}

/** Paragraphs of DrawingML text, as plain text. */
export function paragraphsOf(parent: XmlElement | undefined): string[] {
  return descendants(parent, 'p').map((paragraph) =>
    oneLine(descendants(paragraph, 't').map(textOf).join('')),
  );
}
