import type { Tool } from '../tools.ts';
import { quoted } from './grammar-rules.ts';
import type { PartialCall, ToolFormat } from './format.ts';
import { endOfJson, fieldsOf, parsedOr } from './json-text.ts';

interface JsonCallOptions extends Omit<ToolFormat, 'read' | 'call'> {
  /** Text around each call. */
  open?: string;
  close?: string;
  /** The fields with the name and the arguments, and GBNF of what precedes each. */
  name?: string;
  field?: string;
  beforeName?: string;
  beforeField?: string;
}

/** Calls as objects with a name and arguments. */
export function jsonCalls({
  open = '',
  close = '',
  name = 'name',
  field = 'arguments',
  beforeName = '',
  beforeField = '" "',
  ...format
}: JsonCallOptions): ToolFormat {
  return {
    ...format,
    read: readObject,
    call: (tool, rules) => {
      const named = `${beforeName} ${quoted(`"${name}": ${JSON.stringify(tool.name)},`)}`;
      const given = `${beforeField} ${quoted(`"${field}": `)} ${rules.argumentsOf(tool)}`;
      return `${quoted(`${open}{`)} ${named} ${given} ${quoted(`}${close}`)}`;
    },
  };
}

function readObject(text: string, tools: readonly Tool[]): PartialCall | undefined {
  const from = text.indexOf('{');
  if (from < 0) return undefined;
  const { fields, end } = fieldsOf(text, from);
  const named = fields.get('name') ?? fields.get('tool_name');
  const name = named?.isComplete ? parsedOr(named.value, '') : undefined;
  const given = fields.get('arguments') ?? fields.get('parameters');
  const tool = tools.find((each) => each.name === name);
  // An object without a tool's name is not a call, but JSON that the answer was to have.
  if (!tool) return end === undefined ? undefined : readAfter(text, end, tools);
  return { name: tool.name, arguments: argumentsIn(given, end !== undefined), end };
}

/** Some models write the arguments as a string with JSON, which can only be read as a whole. */
function argumentsIn(given: { value: string; isComplete: boolean } | undefined, isDone: boolean): string {
  if (!given) return isDone ? '{}' : '';
  if (!given.value.startsWith('"')) return given.value;
  return given.isComplete ? String(parsedOr(given.value, '{}')) : '';
}

/** Calls as objects with one field: the name, and the arguments as its value. */
export function keyedCalls(format: Omit<ToolFormat, 'read' | 'call'>): ToolFormat {
  return {
    ...format,
    read: (text, tools) => {
      const from = text.indexOf('{');
      if (from < 0) return undefined;
      const { fields, end } = fieldsOf(text, from);
      const call = [...fields].find(([name]) => tools.some((tool) => tool.name === name));
      return call && { name: call[0], arguments: call[1].value, end };
    },
    call: (tool, rules) =>
      `${quoted(`{${JSON.stringify(tool.name)}: `)} ${rules.argumentsOf(tool)} ${quoted('}')}`,
  };
}

/** The first call after an object that is none. */
function readAfter(text: string, end: number, tools: readonly Tool[]): PartialCall | undefined {
  const call = readObject(text.slice(end), tools);
  return call && { ...call, end: call.end === undefined ? undefined : call.end + end };
}

interface NamedCallOptions extends Omit<ToolFormat, 'read' | 'call'> {
  /** Everything up to the arguments; its first group is the name. */
  head: RegExp;
  /** GBNF of the head, around the name. */
  headRule: [before: string, after: string];
  close?: string;
}

/** Calls as a name and, after it, the arguments as an object. */
export function namedCalls({ head, headRule, close = '', ...format }: NamedCallOptions): ToolFormat {
  return {
    ...format,
    read: (text) => {
      const found = head.exec(text);
      if (!found) return undefined;
      const from = found.index + found[0].length;
      const end = endOfJson(text, from);
      return { name: found[1] ?? '', arguments: text.slice(from, end), end };
    },
    call: (tool, rules) =>
      [headRule[0], quoted(tool.name), headRule[1], rules.argumentsOf(tool), quoted(close)].join(' '),
  };
}
