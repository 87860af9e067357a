/** Calls as models write them, from their templates and model cards: read at every split, and held to schemas by the grammar. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addCallDelta, type Tool, type ToolCall } from '../tools.ts';
import { Engine, type Model } from '../../engine/engine.ts';
import { Gbnf } from '../../testing/gbnf.ts';
import { toolFormatOf } from './formats.ts';
import { jsonCalls } from './json-calls.ts';
import { toolGrammar } from './tool-grammar.ts';
import { ToolStream } from './tool-stream.ts';

const WEATHER: Tool = {
  name: 'get_weather',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', enum: ['Oslo', 'Porto'] },
      days: { type: 'integer', minimum: 1, maximum: 9 },
      hourly: { type: 'boolean' },
    },
    required: ['city', 'days'],
    additionalProperties: false,
  },
};
const TOOLS: Tool[] = [WEATHER, { name: 'now', parameters: { type: 'object', properties: {} } }];

const OSLO = { city: 'Oslo', days: 2 };
const PORTO = { city: 'Porto', days: 3, hourly: true };
/** Arguments as most templates write them. */
const [OSLO_JSON, PORTO_JSON] = [
  '{"city": "Oslo", "days": 2}',
  '{"city": "Porto", "days": 3, "hourly": true}',
];

interface Family {
  /** The part of the chat template that tells the format. */
  template: string;
  /** Two calls, or one where an answer has one. */
  says: string;
  single?: boolean;
  /** Text before a call is no part of the format. */
  alone?: boolean;
  /** The grammar holds calls to another of the forms that the model writes. */
  loose?: boolean;
}

const FAMILIES: Record<string, Family> = {
  'Qwen 2.5, Hermes': {
    template: `{{- '\\n<tool_call>\\n{"name": "' }}`,
    says: `<tool_call>\n{"name": "get_weather", "arguments": ${OSLO_JSON}}\n</tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": ${PORTO_JSON}}\n</tool_call>`,
  },
  'Llama 3.2': {
    template: `Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}`,
    says: `{"name": "get_weather", "parameters": ${OSLO_JSON}}`,
    single: true,
    alone: true,
  },
  'Llama 3.1, behind its mark': {
    template: `{{- "<|python_tag|>" + tool_call.name }}`,
    says: `<|python_tag|>{"name": "get_weather", "parameters": ${OSLO_JSON}}`,
    single: true,
    loose: true,
  },
  'Mistral Nemo': {
    template: `{{- "[TOOL_CALLS][" }}`,
    says: `[TOOL_CALLS][{"name": "get_weather", "arguments": ${OSLO_JSON}}, {"name": "get_weather", "arguments": ${PORTO_JSON}}]`,
  },
  'Mistral Small 3.2': {
    template: `{{- "[TOOL_CALLS]" + name + "[CALL_ID]" + id + "[ARGS]" }}`,
    says: `[TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]${OSLO_JSON}[TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4f[ARGS]${PORTO_JSON}`,
  },
  'Devstral, Ministral 3': {
    template: `{{- "[TOOL_CALLS]" + name + "[ARGS]" }}`,
    says: `[TOOL_CALLS]get_weather[ARGS]${OSLO_JSON}[TOOL_CALLS]get_weather[ARGS]${PORTO_JSON}`,
  },
  'gpt-oss': {
    template: `{{- "<|start|>assistant<|channel|>analysis<|message|>" }}`,
    says: `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>${OSLO_JSON}`,
    single: true,
  },
  'gpt-oss with the recipient in its role': {
    template: `{{- "<|start|>assistant<|channel|>analysis<|message|>" }}`,
    says: ` to=functions.get_weather<|channel|>commentary json<|message|>${OSLO_JSON}`,
    single: true,
  },
  'Gemma 4': {
    template: `{{- '<|tool_call>call:' + function['name'] + '{' }}`,
    says: `<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>,days:2}<tool_call|><|tool_call>call:get_weather{city:<|"|>Porto<|"|>,days:3,hourly:true}<tool_call|>`,
  },
  FunctionGemma: {
    template: `{{- '<start_function_call>call:' }}`,
    says: `<start_function_call>call:get_weather{city:<escape>Oslo<escape>,days:2}<end_function_call><start_function_call>call:get_weather{city:<escape>Porto<escape>,days:3,hourly:true}<end_function_call>`,
  },
  'GLM 4.6': {
    template: `<tool_call>{function-name}\n<arg_key>{arg-key-1}</arg_key>`,
    says: `<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Porto</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n<arg_key>hourly</arg_key>\n<arg_value>true</arg_value>\n</tool_call>`,
  },
  'GLM 4.7': {
    template: `<tool_call>{function-name}<arg_key>{arg-key-1}</arg_key>`,
    says: `<tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value><arg_key>days</arg_key><arg_value>2</arg_value></tool_call><tool_call>get_weather<arg_key>city</arg_key><arg_value>Porto</arg_value><arg_key>days</arg_key><arg_value>3</arg_value><arg_key>hourly</arg_key><arg_value>true</arg_value></tool_call>`,
    loose: true,
  },
  'Qwen3-Coder, Qwen 3.5, Nemotron 3': {
    template: `<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>`,
    says: `<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get_weather>\n<parameter=city>\nPorto\n</parameter>\n<parameter=days>\n3\n</parameter>\n<parameter=hourly>\ntrue\n</parameter>\n</function>\n</tool_call>`,
  },
  'Functionary 3.1': {
    template: `<function=example_function_name>{{"example_name": "example_value"}}</function>`,
    says: `<function=get_weather>${OSLO_JSON}</function><function=get_weather>${PORTO_JSON}</function>`,
  },
  'DeepSeek R1': {
    template: "'<｜tool▁call▁begin｜>' + type + '<｜tool▁sep｜>' + name + '\\n' + '```json'",
    says: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n\`\`\`json\n${OSLO_JSON}\n\`\`\`<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n\`\`\`json\n${PORTO_JSON}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  },
  'DeepSeek V3.1': {
    template: "'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>' + name + '<｜tool▁sep｜>'",
    says: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>${OSLO_JSON}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>${PORTO_JSON}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  },
  'Kimi K2': {
    template: `<|tool_call_begin|>{{ id }}<|tool_call_argument_begin|>`,
    says: `<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>${OSLO_JSON}<|tool_call_end|><|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>${PORTO_JSON}<|tool_call_end|><|tool_calls_section_end|>`,
  },
  'Cohere Command R7B, Command A': {
    template: `<|START_ACTION|>[{% for tc in message.tool_calls %}`,
    says: `<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": ${OSLO_JSON}},\n    {"tool_call_id": "1", "tool_name": "get_weather", "parameters": ${PORTO_JSON}}\n]<|END_ACTION|>`,
  },
  'Cohere Command R+': {
    template: `{{- '\\nAction:\\n\`\`\`json\\n[\\n' }}`,
    says: `Action:\n\`\`\`json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": ${OSLO_JSON}\n    },\n    {\n        "tool_name": "get_weather",\n        "parameters": {\n            "city": "Porto",\n            "days": 3,\n            "hourly": true\n        }\n    }\n]\`\`\``,
    loose: true,
  },
  'GigaChat 3': {
    template: `role_sep="<|role_sep|>\\n"`,
    says: `<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "get_weather", "arguments": ${OSLO_JSON}}`,
    single: true,
  },
  'GigaChat 3.1': {
    template: `role_sep="<|role_sep|>\\n", function_call="<|function_call|>"`,
    says: `<|function_call|>{"name": "get_weather", "arguments": ${OSLO_JSON}}`,
    single: true,
  },
  'Phi 4 mini': {
    template: `{{- '<|tool_call|>' + (tool_call['function'] | tojson) + '<|/tool_call|>' -}}`,
    says: `<|tool_call|>{"name": "get_weather", "arguments": ${OSLO_JSON}}<|/tool_call|><|tool_call|>{"name": "get_weather", "arguments": ${PORTO_JSON}}<|/tool_call|>`,
  },
  'Granite 3.3': {
    template: `respond only with <|tool_call|> followed by a JSON list of tools used.`,
    says: `<|tool_call|>[{"name": "get_weather", "arguments": ${OSLO_JSON}}, {"name": "get_weather", "arguments": ${PORTO_JSON}}]`,
  },
  'Nemotron Nano 2': {
    template: `{{- '<TOOLCALL>[' -}}`,
    says: `<TOOLCALL>[{"name": "get_weather", "arguments": ${OSLO_JSON}}, {"name": "get_weather", "arguments": ${PORTO_JSON}}]</TOOLCALL>`,
  },
  'Apriel 1.6': {
    template: `{{ '\\n<tool_calls>[' }}`,
    says: `<tool_calls>[{"name": "get_weather", "arguments": ${OSLO_JSON}, "id": "call_1"}, {"name": "get_weather", "arguments": ${PORTO_JSON}}]</tool_calls>`,
    loose: true,
  },
  Apertus: {
    template: `{%- set tool_calls_token = '<|tools_prefix|>' -%}`,
    says: `<|tools_prefix|>[{"get_weather": ${OSLO_JSON}}, {"get_weather": ${PORTO_JSON}}]<|tools_suffix|>`,
  },
  LFM2: {
    template: `"List of tools: <|tool_list_start|>["`,
    says: `<|tool_call_start|>[get_weather(city="Oslo", days=2), get_weather(city="Porto", days=3, hourly=True)]<|tool_call_end|>`,
  },
  'LFM2.5': {
    template: `"List of tools: ["`,
    says: `<|tool_call_start|>[get_weather(city='Oslo', days=2),get_weather(city = "Porto", days=3, hourly=true)]<|tool_call_end|>`,
    loose: true,
  },
  'DeepSeek V3.2': {
    template: `{%- set dsml_token = '｜DSML｜' -%}{{ '<' + dsml_token + 'function_calls>' }}`,
    says: `<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Porto</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n<｜DSML｜parameter name="hourly" string="false">true</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
  },
  'DeepSeek V4': {
    template: `{%- set dsml_token = '｜DSML｜' -%}{{ '<' + dsml_token + 'tool_calls>' }}`,
    says: `<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>`,
    single: true,
  },
  'MiniMax M2': {
    template: `{%- set toolcall_begin_token   = '<minimax:tool_call>'         -%}`,
    says: `<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n<parameter name="days">2</parameter>\n</invoke>\n<invoke name="get_weather">\n<parameter name="city">Porto</parameter>\n<parameter name="days">3</parameter>\n<parameter name="hourly">true</parameter>\n</invoke>\n</minimax:tool_call>`,
  },
  'Seed-OSS': {
    template: `<seed:tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>value_1</parameter>`,
    says: `<seed:tool_call>\n<function=get_weather>\n<parameter=city>Oslo</parameter>\n<parameter=days>2</parameter>\n</function>\n</seed:tool_call>\n<seed:tool_call>\n<function=get_weather>\n<parameter=city>Porto</parameter>\n<parameter=days>3</parameter>\n<parameter=hourly>true</parameter>\n</function>\n</seed:tool_call>`,
  },
};

function formatFor({ template }: Pick<Family, 'template'>) {
  const format = toolFormatOf(template);
  if (!format) throw new Error('no format');
  return format;
}

/** What a stream tells of an answer that comes in these pieces. */
function readIn(family: Pick<Family, 'template'>, pieces: readonly string[]) {
  let count = 0;
  const stream = new ToolStream(formatFor(family), TOOLS, () => `id${count++}`);
  const calls: ToolCall[] = [];
  let text = '';
  for (const piece of pieces) {
    const delta = stream.push(piece);
    expect(calls.length > 0 && delta.text !== '').toBe(false);
    text += delta.text;
    for (const call of delta.calls) addCallDelta(calls, call);
  }
  return { text: text + stream.flush(), calls };
}

function expected({ single = false }: Family) {
  return [OSLO, ...(single ? [] : [PORTO])].map((given, i) => ({ id: `id${i}`, name: 'get_weather', given }));
}

function parsed(calls: readonly ToolCall[]) {
  return calls.map(({ id, name, arguments: given }) => ({ id, name, given: JSON.parse(given) as unknown }));
}

describe.each(Object.entries(FAMILIES))('%s', (_, family) => {
  test('is read at every split, behind text or without', () => {
    for (const before of family.alone ? [''] : ['', 'I look it up: <3 [1] {a}. ']) {
      const whole = before + family.says;
      for (let at = 0; at <= whole.length; at++) {
        const { text, calls } = readIn(family, [whole.slice(0, at), whole.slice(at)]);
        expect([text, parsed(calls)]).toEqual([before.trimEnd(), expected(family)]);
      }
      const letters = readIn(family, whole.split(''));
      expect([letters.text, parsed(letters.calls)]).toEqual([before.trimEnd(), expected(family)]);
    }
  });

  test('an answer without calls is text', () => {
    const says = 'It is 5 < 7 in Oslo, as [TOOL says: to=f.  ';
    expect(readIn(family, says.split(''))).toEqual({ text: says, calls: [] });
  });

  test('a call that is cut off has the arguments so far', () => {
    const cut = readIn(family, [family.says.slice(0, family.says.indexOf('days'))]);
    const [call] = cut.calls;
    expect(cut.text).toBe('');
    expect(call?.name).toBe('get_weather');
    expect('{"city": "Oslo", "'.startsWith(call?.arguments ?? '')).toBe(true);
  });
});

describe('the grammar of', () => {
  const DEMO = join(import.meta.dirname, '..', '..', '..', 'resources', 'models', 'kvasir-demo.gguf');
  let model: Model;
  beforeAll(async () => {
    model = await Engine.open().loadModel(DEMO, { threads: 1, device: 'cpu' });
  });
  afterAll(() => model.dispose());

  /** Random text that a grammar allows, or undefined if it has no end within these tokens. */
  async function written(grammar: string, seed: number, maxTokens = 400, mayBeCut = false) {
    const session = model.createSession(512);
    try {
      await session.append([{ kind: 'compute', tokens: model.tokenize('Once', { addBos: true }) }], {
        kind: 'full',
      });
      const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0, seed, grammar };
      const { tokens, stop } = await session.generate({ maxTokens, sampling });
      return stop === 'eos' || mayBeCut ? model.detokenize(tokens, { special: true }) : undefined;
    } finally {
      session.dispose();
    }
  }

  test.each(Object.entries(FAMILIES))('%s holds calls to their schema', async (_, family) => {
    const request = { tools: TOOLS, choice: { name: 'get_weather' }, parallel: false };
    const grammar = toolGrammar(formatFor(family), request);
    const says = await written(grammar, 1);
    const { text, calls } = readIn(family, [says ?? '']);
    expect([text, calls.length]).toEqual(['', 1]);
    const given = JSON.parse(calls[0]?.arguments ?? '') as Record<string, unknown>;
    expect(['Oslo', 'Porto']).toContain(given['city']);
    expect(given['days']).toBeTypeOf('number');
    expect(Object.keys(given).every((key) => ['city', 'days', 'hourly'].includes(key))).toBe(true);
  });

  test.each(Object.entries(FAMILIES).filter(([, { loose }]) => loose !== true))(
    '%s allows what the model writes, without spaces in JSON, and no other arguments',
    (_, family) => {
      const request = { tools: TOOLS, choice: 'required' as const, parallel: true };
      const grammar = new Gbnf(toolGrammar(formatFor(family), request));
      const says = [OSLO_JSON, PORTO_JSON].reduce(
        (text, given) => text.replaceAll(given, given.replaceAll(' ', '')),
        family.says,
      );
      const others = [says.replaceAll('Oslo', 'Lima'), says.replaceAll('get_weather', 'get'), `${says}.`];
      expect([says, ...others].map((text) => grammar.allows(text))).toEqual([true, false, false, false]);
    },
  );

  test('a thought lets it come before the calls', async () => {
    const format = formatFor({ template: '<tool_call>' });
    const request = { tools: TOOLS, choice: 'required' as const, parallel: false };
    const grammar = toolGrammar(format, request, { thought: { begin: '', end: '</think>' } });
    const texts = await Promise.all([1, 2, 3].map((seed) => written(grammar, seed)));
    for (const text of texts)
      if (text !== undefined) expect(text).toMatch(/^[^]*<\/think>\n{0,2}<tool_call>/);
  });

  test('“auto” allows any text up to a mark, and after it only calls', async () => {
    const format = jsonCalls({ marks: [' in'], open: ' in' });
    const grammar = toolGrammar(format, { tools: TOOLS.slice(0, 1), choice: 'auto', parallel: false });
    const seeds = [1, 2, 3, 4, 5, 6];
    const texts = await Promise.all(seeds.map((seed) => written(grammar, seed, 60, true)));
    const behind = texts.flatMap((text = '') => text.split(' in').slice(1));
    expect(texts.every((text = '') => text.length > 10)).toBe(true);
    expect(behind.length).toBeGreaterThan(0);
    for (const text of behind) {
      const begin = '{"name": "get_weather", "arguments": {';
      expect(text.startsWith(begin) || begin.startsWith(text)).toBe(true);
    }
  });

  test('several calls come in one answer only where that is allowed', async () => {
    const format = formatFor({ template: '<tool_call>' });
    const parameters = { type: 'object', properties: { at: { const: 1 } }, additionalProperties: false };
    const only = { tools: [{ name: 'now', parameters }], choice: 'required' as const };
    const counts = async (parallel: boolean): Promise<number[]> => {
      const grammar = toolGrammar(format, { ...only, parallel });
      const texts = await Promise.all([1, 2, 3, 4].map((seed) => written(grammar, seed, 120, true)));
      return texts.map((text) => readIn({ template: '<tool_call>' }, [text ?? '']).calls.length);
    };
    expect(await counts(false)).toEqual([1, 1, 1, 1]);
    expect(Math.max(...(await counts(true)))).toBeGreaterThan(1);
  });

  test('a schema that it cannot hold is refused for a strict tool, and otherwise any object', async () => {
    const parameters = { type: 'object', properties: { a: { not: {} } }, required: ['a'] };
    const grammarOf = (strict: boolean): string =>
      toolGrammar(formatFor({ template: '<tool_call>' }), {
        tools: [{ name: 'f', parameters, strict }],
        choice: 'required',
        parallel: false,
      });
    expect(() => grammarOf(true)).toThrow('The tool f: Unsupported JSON schema: #/properties/a');
    const says = (await written(grammarOf(false), 3, 60, true)) ?? '';
    expect(says).toMatch(/^<tool_call>\n\{"name": "f", "arguments": \{/);
  });
});

test('Python’s values are read as JSON’s', () => {
  const says = String.raw`<|tool_call_start|>[now(a="it's \"so\"\n", b='\u00e9', c=[1, -2.5, (3,)], d={'k': None, "l": [True]}, e=nan)]`;
  const { calls } = readIn({ template: '<|tool_call_start|>' }, [says]);
  expect(parsed(calls)[0]?.given).toEqual({
    a: 'it\'s "so"\n',
    b: 'é',
    c: [1, -2.5, [3]],
    d: { k: null, l: [true] },
    e: 'nan',
  });
});

test('a parameter that says that it is a text is one, whatever its schema', () => {
  const says =
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="days" string="true">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n';
  const { calls } = readIn({ template: '｜DSML｜ function_calls>' }, [says]);
  expect(parsed(calls)[0]?.given).toEqual({ days: '2' });
});

test('JSON without the name of a tool is an answer, where calls have no mark', () => {
  const llama = { template: '<|python_tag|>' };
  const says = '{"name": "Mara", "parameters": {"a": 1}}';
  for (let at = 0; at <= says.length; at++)
    expect(readIn(llama, [says.slice(0, at), says.slice(at)])).toEqual({ text: says, calls: [] });
});

test('a tool without properties has no arguments', () => {
  const request = { tools: TOOLS, choice: { name: 'now' }, parallel: false };
  expect(toolGrammar(formatFor({ template: '<tool_call>' }), request)).not.toMatch(/^g\d+-root ::= .*pair/m);
});

test('an unknown format is none', () => {
  expect(toolFormatOf('{{ messages }}')).toBeUndefined();
});
