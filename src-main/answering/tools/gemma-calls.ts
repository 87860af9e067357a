import type { ToolFormat } from './format.ts';
import { quoted, type GrammarRules } from './grammar-rules.ts';
import { parsedOr } from './json-text.ts';

interface GemmaCallOptions {
  open: string;
  close: string;
  /** Encloses texts. */
  quote: string;
}

/** Gemma's calls: keys without quotes, and texts between marks of their own. */
export function gemmaCalls({ open, close, quote }: GemmaCallOptions): ToolFormat {
  return {
    marks: [open],
    separator: '',
    read: (text) => {
      const found = HEAD.exec(text);
      if (!found) return undefined;
      const from = found.index + found[0].length;
      const value = new ValueReader(text, from, quote).object();
      const name = found[1] ?? '';
      if (!value) return { name, arguments: '', end: undefined };
      return { name, arguments: JSON.stringify(value.value), end: value.end };
    },
    call: (tool, rules) => {
      const properties = Object.entries(schemaOf(tool.parameters['properties']));
      const required = tool.parameters['required'];
      const value = valueRules(rules, quote);
      const pairs = properties.map(([key, schema]) => ({
        rule: rules.rule(`${quoted(`${key}:`)} ${value(schema)}`),
        isRequired: Array.isArray(required) && required.includes(key),
      }));
      return `${quoted(`${open}call:${tool.name}{`)} ${rules.inOrder(pairs, ',')} ${quoted(`}${close}`)}`;
    },
  };
}

const HEAD = /call:([^\s{]+)(?=\{)/;

/** GBNF for values, by their schema as far as types and enumerations. */
function valueRules(rules: GrammarRules, quote: string): (schema: unknown) => string {
  const text = `${quoted(quote)} ${rules.until([quote])} ${quoted(quote)}`;
  const number = rules.rule('"-"? [0-9]{1,16} ("." [0-9]{1,16})?');
  const any = `any-${number}`;
  const key = '[a-zA-Z0-9_-]{1,64}';
  const list = `"[" (${any} ("," ${any})*)? "]"`;
  const object = `"{" (${key} ":" ${any} ("," ${key} ":" ${any})*)? "}"`;
  rules.rule([text, number, '"true"', '"false"', '"null"', list, object].join(' | '), any);
  const valueOf = (schema: unknown): string => {
    const { type, enum: among, items } = schemaOf(schema);
    if (Array.isArray(among) && among.every((value) => typeof value === 'string'))
      return `(${among.map((value) => quoted(quote + value + quote)).join(' | ')})`;
    if (type === 'string') return rules.rule(text);
    if (type === 'integer') return rules.rule('"-"? [0-9]{1,16}');
    if (type === 'number') return number;
    if (type === 'boolean') return '("true" | "false")';
    if (type !== 'array') return any;
    const item = valueOf(items);
    return rules.rule(`"[" (${item} ("," ${item})*)? "]"`);
  };
  return valueOf;
}

function schemaOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

interface ReadValue<T> {
  value: T;
  end: number;
}

/** Reads a value of a text; undefined while it is incomplete. */
class ValueReader {
  readonly #text: string;
  readonly #quote: string;
  #at: number;

  constructor(text: string, at: number, quote: string) {
    this.#text = text;
    this.#at = at;
    this.#quote = quote;
  }

  object(): ReadValue<object> | undefined {
    const value = this.#object();
    return value && { value, end: this.#at };
  }

  #object(): Record<string, unknown> | undefined {
    const entries: [string, unknown][] = [];
    this.#at++;
    while (!this.#takes('}')) {
      const colon = this.#text.indexOf(':', this.#at);
      if (colon < 0) return undefined;
      const key = this.#text.slice(this.#at, colon).replaceAll(this.#quote, '').trim();
      this.#at = colon + 1;
      const value = this.#value();
      if (value === undefined) return undefined;
      entries.push([key, value]);
      this.#takes(',');
    }
    return Object.fromEntries(entries);
  }

  #value(): unknown {
    if (this.#text.startsWith(this.#quote, this.#at)) return this.#string();
    if (this.#text[this.#at] === '{') return this.#object();
    if (this.#text[this.#at] === '[') return this.#array();
    const end = /[,}\]]/.exec(this.#text.slice(this.#at))?.index;
    if (end === undefined) return undefined;
    const word = this.#text.slice(this.#at, this.#at + end);
    this.#at += end;
    return parsedOr(word, word);
  }

  #string(): string | undefined {
    const from = this.#at + this.#quote.length;
    const end = this.#text.indexOf(this.#quote, from);
    if (end < 0) return undefined;
    this.#at = end + this.#quote.length;
    return this.#text.slice(from, end);
  }

  #array(): unknown[] | undefined {
    const items: unknown[] = [];
    this.#at++;
    while (!this.#takes(']')) {
      const item = this.#value();
      if (item === undefined) return undefined;
      items.push(item);
      this.#takes(',');
    }
    return items;
  }

  #takes(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }
}
