import { isObject } from '../json-schema/part.ts';
import type { Tool } from '../tools.ts';
import type { ToolFormat } from './format.ts';
import { quoted, type GrammarRules } from './grammar-rules.ts';
import { parsedOr } from './json-text.ts';

interface ParameterCallOptions extends Omit<ToolFormat, 'read' | 'call'> {
  /** The beginning of a call; its first group is the name. */
  head: RegExp;
  /** A parameter; its groups are `key`, `value`, and `text` where it says whether the value is a text: "true" or "false". */
  parameter: RegExp;
  /** The text that ends a call. */
  end: string;
  /** GBNF around the name, and around a parameter's name and value. */
  nameRule: [before: string, after: string];
  parameterRule: [before: string, between: string | ((isText: boolean) => string), after: string];
  valueEnd: string;
  endRule: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** Calls as a list of parameters, one by one: texts as they are, other values as JSON. */
export function parameterCalls(options: ParameterCallOptions): ToolFormat {
  const { head, parameter, end, nameRule, parameterRule: _, valueEnd: __, endRule, ...format } = options;
  return {
    ...format,
    read: (text, tools) => {
      const found = head.exec(text);
      if (!found) return undefined;
      const name = found[1] ?? '';
      const from = found.index + found[0].length;
      const at = text.indexOf(end, from);
      const body = at < 0 ? text.slice(from) : text.slice(from, at);
      const properties = propertiesOf(tools.find((tool) => tool.name === name));
      const pairs = [...body.matchAll(parameter)].map(({ groups = {} }) => {
        const { key = '', value = '', text: said } = groups;
        const isText = said === undefined ? isString(properties[key]) : said === 'true';
        return `${JSON.stringify(key)}: ${JSON.stringify(isText ? value : parsedOr(value, value))}`;
      });
      const given = `{${pairs.join(', ')}`;
      return { name, arguments: at < 0 ? given : `${given}}`, end: at < 0 ? undefined : at + end.length };
    },
    call: (tool, rules) => {
      const required = tool.parameters['required'];
      const isNeeded = (key: string): boolean => Array.isArray(required) && required.includes(key);
      const all = Object.entries(propertiesOf(tool)).map(([key, schema]) => {
        const rule = rules.rule(parameterRule(key, schema, tool, { options, rules }));
        return isNeeded(key) ? rule : `${rule}?`;
      });
      return [nameRule[0], quoted(tool.name), nameRule[1], ...all, endRule].join(' ');
    },
  };
}

function parameterRule(
  key: string,
  schema: unknown,
  tool: Tool,
  { options, rules }: { options: ParameterCallOptions; rules: GrammarRules },
): string {
  const [before, between, after] = options.parameterRule;
  const middle = typeof between === 'string' ? between : between(isString(schema));
  return [before, quoted(key), middle, valueRule(schema, tool, { options, rules }), after].join(' ');
}

function valueRule(
  schema: unknown,
  tool: Tool,
  { options: { valueEnd }, rules }: { options: ParameterCallOptions; rules: GrammarRules },
): string {
  const among = isObject(schema) ? schema['enum'] : undefined;
  if (Array.isArray(among) && among.every((value) => typeof value === 'string'))
    return `(${among.map(quoted).join(' | ')})`;
  if (isString(schema)) return rules.until([valueEnd]);
  return rules.parameter(schema, tool, ANY_VALUE);
}

/** Where a schema cannot be held: any text of one line. */
const ANY_VALUE = 'root ::= [^\\n<]*';

function propertiesOf(tool: Tool | undefined): Schema {
  const properties = tool?.parameters['properties'];
  return isObject(properties) ? properties : {};
}

function isString(schema: unknown): boolean {
  return isObject(schema) && [schema['type']].flat().includes('string');
}
