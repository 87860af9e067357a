import type { Tool } from '../tools.ts';
import type { ToolFormat } from './format.ts';
import { quoted, type GrammarRules } from './grammar-rules.ts';
import { PythonReader } from './python-reader.ts';

/** Calls in Python's notation, with arguments by their names. */
export function pythonCalls(format: Omit<ToolFormat, 'read' | 'call'>): ToolFormat {
  return {
    ...format,
    read: (text, tools) => {
      const found = HEAD.exec(text);
      if (!found || !tools.some(({ name }) => name === found[1])) return undefined;
      const { pairs, end } = new PythonReader(text, found.index + found[0].length).keywords();
      const given = pairs.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
      const open = `{${given.join(', ')}`;
      return { name: found[1] ?? '', arguments: end === undefined ? open : `${open}}`, end };
    },
    call: (tool, rules) => {
      const { properties, required } = tool.parameters;
      const pairs = Object.entries((properties ?? {}) as Record<string, unknown>).map(([key, schema]) => ({
        rule: rules.rule(`${quoted(`${key}=`)} ${valueRule(schema, tool, rules)}`),
        isRequired: Array.isArray(required) && required.includes(key),
      }));
      return `${quoted(`${tool.name}(`)} ${rules.inOrder(pairs, ', ')} ")"`;
    },
  };
}

const HEAD = /([a-zA-Z0-9_-]+)\(/;

/** What a schema may say of a value that may be any of its type. */
const SAYS_NOTHING = new Set(['type', 'title', 'description', 'default', 'examples']);

/** Values are JSON, which Python reads as well, but for constants: those within lists and objects are read either way. */
function valueRule(schema: unknown, tool: Tool, rules: GrammarRules): string {
  const said = typeof schema === 'object' && schema !== null ? (schema as Record<string, unknown>) : {};
  const type = Object.keys(said).every((key) => SAYS_NOTHING.has(key)) && said['type'];
  if (type === 'boolean') return '("True" | "False")';
  const value = rules.parameter(schema, tool, ANY_VALUE);
  return type === 'string' ? `(${value} | ${SINGLE_QUOTED})` : value;
}

const SINGLE_QUOTED = String.raw`"'" ([^'\\\n] | "\\" [^\n])* "'"`;

/** Where a schema cannot be held: a number or a text. */
const ANY_VALUE = String.raw`root ::= [0-9.-]{1,20} | "True" | "False" | "None" | "\"" ([^"\\\n] | "\\" [^\n])* "\""`;
