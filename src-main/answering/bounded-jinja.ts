import { Template } from '@huggingface/jinja';
import { interpret } from './jinja/interpreter.ts';
import type { Program } from './jinja/nodes.ts';
import {
  type Args,
  asNumber,
  beginRendering,
  itemsOf,
  Namespace,
  requireItems,
  templateValue,
  textOf,
  type Callable,
  type Value,
} from './jinja/values.ts';

/** What transformers and jinja2 provide. */
const GLOBALS: Record<string, null | boolean | Callable> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
  range,
  raise_exception: (args) => {
    throw new Error(textOf(args.get(0, 'message')));
  },
  strftime_now: (args) => strftime(new Date(), args.text(0, 'format')),
  namespace: (args) => new Namespace([...entriesOf(args), ...args.named]),
  dict: (args) => new Map([...entriesOf(args), ...args.named]),
};

/** A block whose text is not parsed. */
const RAW = /\{%-?\s*raw\s*-?%\}(.*?)\{%-?\s*endraw\s*-?%\}/gs;

/** "set _ = namespace.list.append(item)". */
const APPEND = /\bset\s+\w+\s*=\s*(\w+\.\w+)\.append\(([^{}%]*)\)\s*(-?%\})/g;
/** "set item = namespace.list.pop(0)". */
const POP_FIRST = /\{%(-?)\s*set\s+(\w+)\s*=\s*(\w+\.\w+)\.pop\(0\)\s*(-?)%\}/g;

/** A template with assignments in place of Python's methods that change a list, which the renderer lacks: Kimi K2 keeps ids of calls so. */
function withoutListMethods(template: string): string {
  return template
    .replaceAll(APPEND, 'set $1 = $1 + [$2] $3')
    .replaceAll(POP_FIRST, '{%$1 set $2 = $3[0] $4%}{%$1 set $3 = $3[1:] $4%}');
}

/** Parses a template as jinja2 with the options of transformers. Throws where its syntax is wrong. */
export function parseTemplate(source: string): Template {
  return new Template(
    withoutListMethods(source)
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(RAW, (_, text: string) => `{{ ${JSON.stringify(text)} }}`),
  );
}

/**
 * Renders a chat template as jinja2 does, with the globals that transformers provides. Throws what the template raises, what jinja2 refuses,
 * and when it produces too much.
 */
export function renderBounded({ parsed }: { parsed: unknown }, variables: Record<string, unknown>): string {
  beginRendering();
  const given = Object.entries(variables).map(([name, value]) => [name, templateValue(value)] as const);
  return interpret(parsed as Program, {
    ...GLOBALS,
    ...Object.fromEntries(given),
  });
}

/** The entries of a first argument: a dictionary, or a list of pairs. */
function entriesOf({ list: [first] }: Args): [string, Value][] {
  const pairs = first instanceof Map ? [...first] : itemsOf(first).map(itemsOf);
  return pairs.map(([key, value]) => [textOf(key), value]);
}

/** Python's `range`. */
function range(args: Args): number[] {
  const [first, last] = [args.count(0, 'start'), args.get(1, 'stop')];
  const step = args.count(2, 'step', 1);
  const [start, stop] = last === undefined ? [0, first] : [first, asNumber(last)];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  requireItems(length);
  return Array.from({ length }, (_, i) => start + i * step);
}

/** Python's date format codes, in English regardless of the locale: models were trained on that. */
function strftime(date: Date, format: string): string {
  const named = (options: Intl.DateTimeFormatOptions): string => date.toLocaleDateString('en-US', options);
  const two = (value: number): string => String(value).padStart(2, '0');
  const codes: Record<string, string> = {
    Y: String(date.getFullYear()),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    H: two(date.getHours()),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    b: named({ month: 'short' }),
    B: named({ month: 'long' }),
    a: named({ weekday: 'short' }),
    A: named({ weekday: 'long' }),
    '%': '%',
  };
  return format.replaceAll(/%(.)/g, (whole, code: string) => codes[code] ?? whole);
}
