/** A value in a template, with the meaning of Python's: undefined is jinja2's Undefined, null is None. */
export type Value = undefined | null | boolean | number | string | Value[] | Dict | Namespace | Callable;
export type Dict = Map<Value, Value>;
export type Callable = (args: Args) => Value;

/** What `namespace()` makes, and `loop`: attributes without the methods of a dictionary. */
export class Namespace {
  readonly attributes: Map<string, Value>;

  constructor(attributes: Iterable<[string, Value]>) {
    this.attributes = new Map(attributes);
  }
}

/** The arguments of a call. */
export class Args {
  readonly list: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;

  constructor(list: readonly Value[] = [], named: ReadonlyMap<string, Value> = new Map()) {
    this.list = list;
    this.named = named;
  }

  get(position: number, name: string, fallback?: Value): Value {
    if (position < this.list.length) return this.list[position];
    return this.named.has(name) ? this.named.get(name) : fallback;
  }

  text(position: number, name: string, fallback?: string): string {
    return asText(this.get(position, name, fallback));
  }

  /** A whole number. */
  count(position: number, name: string, fallback?: number): number {
    return asNumber(this.get(position, name, fallback));
  }
}

/**
 * Limits on the UTF-16 units of a text and the items of a list. V8 ends the process, without an exception, when an array grows beyond its
 * capacity or the heap is full, so a time limit is not enough.
 */
const MAX_UNITS = 4 * 1024 * 1024;
const MAX_ITEMS = 1024 * 1024;
/** Limit on everything that one rendering makes. */
const MAX_UNITS_IN_ALL = 256 * 1024 * 1024;
const UNITS_PER_ITEM = 16;
/** An entry of a dictionary takes the memory of as many items. */
const ITEMS_PER_ENTRY = 8;

let units = 0;

/** Begins the count of a rendering. */
export function beginRendering(): void {
  units = 0;
}

/** The value, if it and everything made before it are small enough. */
export function bounded<T extends Value>(value: T): T {
  if (typeof value === 'string') requireUnits(value.length);
  else if (Array.isArray(value)) requireItems(value.length);
  else if (value instanceof Map) requireItems(value.size * ITEMS_PER_ENTRY);
  return value;
}

export function requireUnits(length: number): void {
  units += length;
  if (!(length <= MAX_UNITS) || units > MAX_UNITS_IN_ALL) throw tooLarge();
}

export function requireItems(length: number): void {
  units += length * UNITS_PER_ITEM;
  if (!(length <= MAX_ITEMS) || units > MAX_UNITS_IN_ALL) throw tooLarge();
}

function tooLarge(): Error {
  return new Error('it produces too large a text or list');
}

/** Joins texts, unless the result would be too large. */
export function joined(parts: readonly string[], separator = ''): string {
  requireUnits(parts.reduce((sum, { length }) => sum + length + separator.length, 0));
  return parts.join(separator);
}

/** The parts of a text between separators. */
export function split(text: string, separator: string): string[] {
  if (separator === '') throw new Error('empty separator');
  return bounded(text.split(separator, MAX_ITEMS + 1));
}

export function truth(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return Boolean(value);
}

/** Python's `str`. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : repr(value);
}

/** Python's `repr`. */
function repr(value: Value): string {
  if (value === undefined) return 'Undefined';
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${joined(value.map(repr), ', ')}]`;
  if (value instanceof Map)
    return `{${joined(
      [...value].map(([key, item]) => `${repr(key)}: ${repr(item)}`),
      ', ',
    )}}`;
  if (typeof value === 'number') return String(value);
  throw new TypeError('a function or namespace is no text');
}

const ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(/[\n\r\t\\]/g, (character) => ESCAPES[character] ?? character);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

/** What a loop goes through: items, keys, characters. */
export function itemsOf(value: Value): Value[] {
  if (Array.isArray(value)) return value;
  if (value === undefined) return [];
  if (value instanceof Map) return [...value.keys()];
  if (typeof value !== 'string') throw new TypeError(`${typeName(value)} is not iterable`);
  requireItems(value.length);
  return Array.from(value);
}

export function lengthOf(value: Value): number {
  return value instanceof Map ? value.size : itemsOf(value).length;
}

/** Python's `==`. */
export function equal(a: Value, b: Value): boolean {
  if (typeof a === 'boolean' && typeof b === 'number') return Number(a) === b;
  if (typeof a === 'number' && typeof b === 'boolean') return a === Number(b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (a instanceof Map && b instanceof Map)
    return a.size === b.size && [...a].every(([key, item]) => b.has(key) && equal(item, b.get(key)));
  return a === b;
}

/** Negative where `a` comes before `b`. */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : Number(a > b);
  if (Array.isArray(a) && Array.isArray(b)) {
    const at = a.findIndex((item, i) => i >= b.length || !equal(item, b[i]));
    if (at < 0) return a.length - b.length;
    return at >= b.length ? 1 : compare(a[at], b[at]);
  }
  return asNumber(a) - asNumber(b);
}

/** Whether a text, list or dictionary contains a value. */
export function contains(container: Value, value: Value): boolean {
  if (typeof container === 'string') return container.includes(asText(value));
  if (container instanceof Map) return container.has(value);
  return itemsOf(container).some((item) => equal(item, value));
}

/** TypeError for anything but a number or boolean. */
export function asNumber(value: Value): number {
  if (typeof value === 'number' || typeof value === 'boolean') return Number(value);
  throw new TypeError(`a number is needed, not ${typeName(value)}`);
}

/** TypeError for anything but a text. */
export function asText(value: Value): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`a text is needed, not ${typeName(value)}`);
}

/** TypeError for anything but a dictionary. */
export function asDict(value: Value): Dict {
  if (value instanceof Map) return value;
  throw new TypeError(`a dictionary is needed, not ${typeName(value)}`);
}

export function typeName(value: Value): string {
  if (value === null) return 'None';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Map) return 'a dictionary';
  return value === undefined ? 'an undefined value' : `a ${typeof value}`;
}

/** A value of JavaScript as one of a template. */
export function templateValue(value: unknown): Value {
  if (Array.isArray(value)) return value.map(templateValue);
  if (typeof value === 'object' && value !== null)
    return new Map(Object.entries(value).map(([key, item]) => [key, templateValue(item)]));
  return value as Value;
}
