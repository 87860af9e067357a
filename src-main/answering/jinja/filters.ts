import { ownValue } from '../../../src-shared/own-value.ts';
import { toJson } from './json.ts';
import { capitalize, formatted, replaced, stripped, title } from './methods.ts';
import { attributeOf } from './attributes.ts';
import { test } from './tests.ts';
import {
  Args,
  asDict,
  asNumber,
  asText,
  compare,
  equal,
  itemsOf,
  joined,
  lengthOf,
  requireItems,
  requireUnits,
  split,
  textOf,
  truth,
  type Value,
} from './values.ts';

type Filter = (value: Value, args: Args) => Value;

/** jinja2's filters that apply to prompts. */
const FILTERS: Record<string, Filter> = {
  abs: (value) => Math.abs(asNumber(value)),
  attr: (value, args) => attributeOf(value, args.text(0, 'name')),
  batch: (value, args) => batches(itemsOf(value), args.count(0, 'linecount'), args.get(1, 'fill_with')),
  capitalize: (value) => capitalize(textOf(value)),
  default: (value, args) => {
    const isMissing = truth(args.get(1, 'boolean')) ? !truth(value) : value === undefined;
    return isMissing ? args.get(0, 'default_value', '') : value;
  },
  dictsort: (value, args) => dictSorted(value, args),
  escape: (value) => escaped(textOf(value)),
  first: (value) => itemsOf(value)[0],
  float: (value, args) => numberOf(value, Number.parseFloat) ?? args.get(0, 'default', 0),
  format: (value, args) => formatted(textOf(value), args.named.size > 0 ? [new Map(args.named)] : args.list),
  groupby: (value, args) => groups(itemsOf(value), args.get(0, 'attribute')),
  indent: (value, args) => indented(textOf(value), args),
  int: (value, args) => numberOf(value, Number.parseInt) ?? args.get(0, 'default', 0),
  items: (value) => (value === undefined ? [] : [...asDict(value)]),
  join: (value, args) => {
    const attribute = args.get(1, 'attribute');
    const items = itemsOf(value).map((item) =>
      textOf(attribute === undefined ? item : pathOf(item, attribute)),
    );
    return joined(items, textOf(args.get(0, 'd', '')));
  },
  last: (value) => itemsOf(value).at(-1),
  length: lengthOf,
  list: (value) => [...itemsOf(value)],
  lower: (value) => textOf(value).toLowerCase(),
  map: (value, args) => itemsIn(value).map((item) => mapped(item, args)),
  max: (value) => sorted(itemsOf(value)).at(-1),
  min: (value) => sorted(itemsOf(value))[0],
  replace: (value, args) =>
    replaced(textOf(value), args.text(0, 'old'), args.text(1, 'new'), countOf(args.get(2, 'count', null))),
  reverse: (value) =>
    typeof value === 'string' ? joined(itemsOf(value).map(asText).reverse()) : [...itemsOf(value)].reverse(),
  round: (value, args) => rounded(asNumber(value), args),
  safe: textOf,
  select: (value, args) => itemsIn(value).filter((item) => chosen(item, args, 0)),
  reject: (value, args) => itemsIn(value).filter((item) => !chosen(item, args, 0)),
  selectattr: (value, args) => itemsIn(value).filter((item) => chosen(pathOf(item, args.list[0]), args, 1)),
  rejectattr: (value, args) => itemsIn(value).filter((item) => !chosen(pathOf(item, args.list[0]), args, 1)),
  slice: (value, args) => slices(itemsOf(value), args.count(0, 'slices')),
  sort: (value, args) => {
    const ordered = sorted(itemsOf(value), args.get(2, 'attribute'), truth(args.get(1, 'case_sensitive')));
    return truth(args.get(0, 'reverse')) ? ordered.reverse() : ordered;
  },
  string: textOf,
  sum: (value, args) =>
    itemsOf(value).reduce<number>(
      (sum, item) => sum + asNumber(pathOf(item, args.get(0, 'attribute'))),
      args.count(1, 'start', 0),
    ),
  title: (value) => title(textOf(value)),
  tojson: toJson,
  trim: (value, args) => stripped(textOf(value), args.get(0, 'chars'), true, true),
  truncate: (value, args) => truncated(textOf(value), args),
  unique: (value) => {
    const items = itemsOf(value);
    return items.filter((item, i) => items.findIndex((other) => equal(folded(other), folded(item))) === i);
  },
  upper: (value) => textOf(value).toUpperCase(),
  wordcount: (value) => textOf(value).match(/\w+/g)?.length ?? 0,
};

const OTHER_NAMES: Record<string, string> = { d: 'default', e: 'escape', count: 'length' };

/** Throws where there is no filter of that name. */
export function filter(name: string, value: Value, args = new Args()): Value {
  const found = ownValue(FILTERS, ownValue(OTHER_NAMES, name) ?? name);
  if (!found) throw new Error(`No filter named ${name}`);
  return found(value, args);
}

/** These filters take any empty value for an empty list, as jinja2's do. */
function itemsIn(value: Value): Value[] {
  return truth(value) ? itemsOf(value) : [];
}

/** An attribute by its path, such as `function.name` or `0`; the value itself without a path. */
function pathOf(value: Value, path: Value): Value {
  if (path === undefined || path === null) return value;
  let found = value;
  for (const part of textOf(path).split('.')) {
    const key = /^\d+$/.test(part) ? Number(part) : part;
    found = found instanceof Map ? found.get(key) : attributeOf(found, key);
  }
  return found;
}

function mapped(item: Value, args: Args): Value {
  if (!args.named.has('attribute'))
    return filter(args.text(0, 'filter'), item, new Args(args.list.slice(1), args.named));
  return pathOf(item, args.named.get('attribute')) ?? args.named.get('default');
}

function chosen(item: Value, { list }: Args, at: number): boolean {
  return at < list.length ? test(list[at], item, list[at + 1]) : truth(item);
}

/** Texts are compared without regard to case where jinja2 does so. */
function folded(value: Value): Value {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

function sorted(items: readonly Value[], attribute?: Value, bycase = false): Value[] {
  const key = (item: Value): Value => (bycase ? pathOf(item, attribute) : folded(pathOf(item, attribute)));
  return [...items].sort((a, b) => compare(key(a), key(b)));
}

function dictSorted(value: Value, args: Args): Value {
  const by = args.get(1, 'by', 'key') === 'value' ? 1 : 0;
  const ordered = sorted([...asDict(value)], by, truth(args.get(0, 'case_sensitive')));
  return truth(args.get(2, 'reverse')) ? ordered.reverse() : ordered;
}

function groups(items: readonly Value[], attribute: Value): Value[] {
  const all: [Value, Value[]][] = [];
  for (const item of sorted(items, attribute)) {
    const key = pathOf(item, attribute);
    const last = all.at(-1);
    if (last && equal(last[0], key)) last[1].push(item);
    else all.push([key, [item]]);
  }
  return all;
}

function batches(items: readonly Value[], size: number, fill: Value): Value[] {
  if (fill !== undefined) requireItems(size);
  const all: Value[][] = [];
  for (let at = 0; size > 0 && at < items.length; at += size) all.push(items.slice(at, at + size));
  const last = all.at(-1);
  while (fill !== undefined && last && last.length < size) last.push(fill);
  return all;
}

function slices(items: readonly Value[], count: number): Value[] {
  const [size, more] = [Math.floor(items.length / count), items.length % count];
  requireUnits(count);
  return Array.from({ length: count }, (_, i) => {
    const from = i * size + Math.min(i, more);
    return items.slice(from, from + size + (i < more ? 1 : 0));
  });
}

function indented(text: string, args: Args): string {
  const width = args.get(0, 'width', 4);
  const [first, blank] = [truth(args.get(1, 'first')), truth(args.get(2, 'blank'))];
  if (typeof width === 'number') requireUnits(width);
  const space = typeof width === 'string' ? width : ' '.repeat(asNumber(width));
  const lines = split(text, '\n').map((line, i) =>
    (i === 0 ? first : blank || line !== '') ? space + line : line,
  );
  return joined(lines, '\n');
}

function truncated(text: string, args: Args): string {
  const [length, end] = [args.count(0, 'length', 255), args.text(2, 'end', '...')];
  if (text.length <= length + args.count(3, 'leeway', 5)) return text;
  const cut = text.slice(0, length - end.length);
  const space = cut.lastIndexOf(' ');
  return (truth(args.get(1, 'killwords')) || space < 0 ? cut : cut.slice(0, space)) + end;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function escaped(text: string): string {
  requireUnits(text.length);
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function countOf(value: Value): number {
  return value === null ? -1 : asNumber(value);
}

/** undefined where it is no number. */
function numberOf(value: Value, parse: (text: string) => number): number | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return parse(String(Number(value)));
  const number = typeof value === 'string' ? parse(value) : Number.NaN;
  return Number.isNaN(number) ? undefined : number;
}

function rounded(value: number, args: Args): number {
  const scale = 10 ** args.count(0, 'precision', 0);
  const method = args.get(1, 'method', 'common');
  if (method === 'ceil') return Math.ceil(value * scale) / scale;
  return (method === 'floor' ? Math.floor(value * scale) : Math.round(value * scale)) / scale;
}
