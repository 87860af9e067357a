import {
  asDict,
  asText,
  bounded,
  contains,
  equal,
  itemsOf,
  joined,
  requireUnits,
  split,
  textOf,
  type Args,
  type Dict,
  type Value,
} from './values.ts';

type Method<T> = (self: T, args: Args) => Value;

/** Methods of Python's `str`. */
export const STRING_METHODS: Record<string, Method<string>> = {
  upper: (self) => self.toUpperCase(),
  lower: (self) => self.toLowerCase(),
  casefold: (self) => self.toLowerCase(),
  title,
  capitalize,
  strip: (self, args) => stripped(self, args.get(0, 'chars'), true, true),
  lstrip: (self, args) => stripped(self, args.get(0, 'chars'), true, false),
  rstrip: (self, args) => stripped(self, args.get(0, 'chars'), false, true),
  startswith: (self, args) => oneOf(args.get(0, 'prefix'), (text) => self.startsWith(text)),
  endswith: (self, args) => oneOf(args.get(0, 'suffix'), (text) => self.endsWith(text)),
  removeprefix: (self, args) => withoutPrefix(self, args.text(0, 'prefix')),
  removesuffix: (self, args) => withoutSuffix(self, args.text(0, 'suffix')),
  replace: (self, args) =>
    replaced(self, args.text(0, 'old'), args.text(1, 'new'), args.count(2, 'count', -1)),
  split: (self, args) => splitAt(self, args.get(0, 'sep', null), args.count(1, 'maxsplit', -1)),
  rsplit: (self, args) => splitFromEnd(self, args.get(0, 'sep', null), args.count(1, 'maxsplit', -1)),
  splitlines: (self) => (self === '' ? [] : bounded(withoutSuffix(self, '\n').split(/\r\n|[\r\n]/))),
  partition: (self, args) => partitioned(self, args.text(0, 'sep')),
  join: (self, args) => joined(itemsOf(args.get(0, 'iterable')).map(asText), self),
  find: (self, args) => positionOf(self, self.indexOf(args.text(0, 'sub'))),
  rfind: (self, args) => positionOf(self, self.lastIndexOf(args.text(0, 'sub'))),
  index: (self, args) => {
    if (!contains(self, args.get(0, 'sub'))) throw new Error('substring not found');
    return positionOf(self, self.indexOf(args.text(0, 'sub')));
  },
  count: (self, args) => split(self, args.text(0, 'sub')).length - 1,
  format: (self, args) => filledIn(self, args),
  isdigit: (self) => /^\p{Nd}+$/u.test(self),
  isnumeric: (self) => /^\p{N}+$/u.test(self),
  isalpha: (self) => /^\p{L}+$/u.test(self),
  isalnum: (self) => /^[\p{L}\p{N}]+$/u.test(self),
  isspace: (self) => /^\s+$/.test(self),
  isupper: (self) => self !== self.toLowerCase() && self === self.toUpperCase(),
  islower: (self) => self !== self.toUpperCase() && self === self.toLowerCase(),
  zfill: (self, args) => padded(self.length, args, (width) => self.padStart(width, '0')),
  center: (self, args) =>
    padded(self.length, args, (width) =>
      self.padStart(self.length + Math.floor((width - self.length) / 2)).padEnd(width),
    ),
  ljust: (self, args) => padded(self.length, args, (width) => self.padEnd(width)),
  rjust: (self, args) => padded(self.length, args, (width) => self.padStart(width)),
};

/** Methods of Python's `dict`, apart from those that change it: transformers refuses them. */
export const DICT_METHODS: Record<string, Method<Dict>> = {
  get: (self, args) =>
    self.has(args.get(0, 'key')) ? self.get(args.get(0, 'key')) : args.get(1, 'default', null),
  items: (self) => [...self],
  keys: (self) => [...self.keys()],
  values: (self) => [...self.values()],
  copy: (self) => new Map(self),
};

/** Methods of Python's `list`, apart from those that change it. */
export const LIST_METHODS: Record<string, Method<Value[]>> = {
  count: (self, args) => self.filter((item) => equal(item, args.get(0, 'value'))).length,
  index: (self, args) => {
    const at = self.findIndex((item) => equal(item, args.get(0, 'value')));
    if (at < 0) throw new Error('value is not in list');
    return at;
  },
  copy: (self) => [...self],
};

export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();
}

export function title(text: string): string {
  return text.replaceAll(/\p{L}+/gu, capitalize);
}

/** Without white space, or without `characters`, at its ends. */
export function stripped(text: string, characters: Value, start: boolean, end: boolean): string {
  const isStripped = (at: number): boolean => {
    const character = text.charAt(at);
    return typeof characters === 'string' ? characters.includes(character) : character.trim() === '';
  };
  let [from, to] = [0, text.length];
  while (start && from < to && isStripped(from)) from++;
  while (end && to > from && isStripped(to - 1)) to--;
  return text.slice(from, to);
}

/** Replaces the first `count` occurrences; all where it is negative. */
export function replaced(text: string, before: string, after: string, count = -1): string {
  const parts = before === '' ? ['', ...itemsOf(text).map(asText), ''] : split(text, before);
  if (count < 0 || count >= parts.length - 1) return joined(parts, after);
  return joined([joined(parts.slice(0, count + 1), after), joined(parts.slice(count + 1), before)], before);
}

/** The texts of a template's `%` operator and `format` filter. */
export function formatted(text: string, values: readonly Value[]): string {
  let next = 0;
  return text.replaceAll(
    /%(?:\((\w+)\))?(?:\.(\d+))?([sdifr%])/g,
    (_, name: string | undefined, digits: string | undefined, kind: string) => {
      if (kind === '%') return '%';
      const value = name === undefined ? values[next++] : asDict(values[0]).get(name);
      if (kind === 'd' || kind === 'i') return String(Math.trunc(Number(value)));
      return kind === 'f' ? Number(value).toFixed(Number(digits ?? 6)) : bounded(textOf(value));
    },
  );
}

function oneOf(texts: Value, matches: (text: string) => boolean): boolean {
  return Array.isArray(texts) ? texts.some((text) => matches(asText(text))) : matches(asText(texts));
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function withoutSuffix(text: string, suffix: string): string {
  return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}

function splitAt(text: string, separator: Value, most: number): Value[] {
  if (separator !== null) {
    const parts = split(text, asText(separator));
    if (most < 0 || parts.length <= most) return parts;
    return [...parts.slice(0, most), parts.slice(most).join(asText(separator))];
  }
  const words = bounded(text.trim().split(/\s+/));
  if (text.trim() === '') return [];
  if (most < 0 || words.length <= most) return words;
  let rest = text.trimStart();
  for (const word of words.slice(0, most)) rest = rest.slice(word.length).trimStart();
  return [...words.slice(0, most), rest];
}

function splitFromEnd(text: string, separator: Value, most: number): Value[] {
  const parts = splitAt(text, separator, -1).map(asText);
  const head = parts.length - most;
  if (most < 0 || head <= 1) return parts;
  return [parts.slice(0, head).join(separator === null ? ' ' : asText(separator)), ...parts.slice(head)];
}

function partitioned(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, '', ''] : [text.slice(0, at), separator, text.slice(at + separator.length)];
}

/** A position in characters; UTF-16 units are two for some. */
function positionOf(text: string, at: number): number {
  return at < 0 ? -1 : Array.from(text.slice(0, at)).length;
}

function padded(length: number, args: Args, pad: (width: number) => string): string {
  const width = args.count(0, 'width');
  requireUnits(Math.max(length, width));
  return pad(width);
}

/** Python's `str.format`, without format specifications. */
function filledIn(text: string, args: Args): string {
  let next = 0;
  return text.replaceAll(/\{\{|\}\}|\{(\w*)\}/g, (found, name: string | undefined) => {
    if (name === undefined) return found.charAt(0);
    if (name === '') return bounded(textOf(args.list[next++]));
    return bounded(textOf(/^\d+$/.test(name) ? args.list[Number(name)] : args.named.get(name)));
  });
}
