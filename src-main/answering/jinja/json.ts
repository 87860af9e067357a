import { asNumber, asText, compare, joined, typeName, type Args, type Value } from './values.ts';

interface JsonStyle {
  /** What an indented line begins with, for each level; undefined: all in one line. */
  indent: string | undefined;
  item: string;
  key: string;
  sorts: boolean;
  ascii: boolean;
}

/** The filter `tojson` as transformers defines it: Python's `json.dumps`, without jinja2's escapes for HTML. */
export function toJson(value: Value, args: Args): string {
  const indent = args.get(1, 'indent', null);
  const separators = args.get(2, 'separators', null);
  const [item, key] = Array.isArray(separators)
    ? separators.map(asText)
    : [indent === null ? ', ' : ',', ': '];
  return json(value, '\n', {
    indent:
      indent === null
        ? undefined
        : typeof indent === 'string'
          ? indent
          : ' '.repeat(Math.min(asNumber(indent), 100)),
    item: item ?? '',
    key: key ?? '',
    sorts: args.get(3, 'sort_keys', false) === true,
    ascii: args.get(0, 'ensure_ascii', false) === true,
  });
}

function json(value: Value, line: string, style: JsonStyle): string {
  if (typeof value === 'string') return jsonText(value, style);
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  const inner = style.indent === undefined ? '' : line + style.indent;
  const enclosed = (open: string, items: string[], close: string): string =>
    items.length === 0
      ? open + close
      : joined([
          open,
          inner,
          joined(items, style.item + inner),
          style.indent === undefined ? '' : line,
          close,
        ]);
  if (Array.isArray(value))
    return enclosed(
      '[',
      value.map((each) => json(each, inner, style)),
      ']',
    );
  if (!(value instanceof Map)) throw new TypeError(`${typeName(value)} cannot be written as JSON`);
  const entries = style.sorts ? [...value].sort(([a], [b]) => compare(a, b)) : [...value];
  const written = entries.map(([key, item]) => {
    const name = jsonText(typeof key === 'string' ? key : json(key, '', style), style);
    return name + style.key + json(item, inner, style);
  });
  return enclosed('{', written, '}');
}

function jsonText(text: string, { ascii }: JsonStyle): string {
  const written = JSON.stringify(text);
  if (!ascii) return written;
  return written.replaceAll(
    /[\u007F-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
