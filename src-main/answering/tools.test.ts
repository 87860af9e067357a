/** Tools, calls and results in chat templates, which take them in different forms. */
import { describe, expect, test } from 'vitest';
import { TOOL_TEMPLATE } from '../testing/chat-templates.ts';
import { FakeModel } from '../testing/fusion.ts';
import { tokenPrompt } from './backends/token-prompt.ts';
import type { Message } from './prompt.ts';
import type { Tool } from './tools.ts';

const TOOL: Tool = {
  name: 'weather',
  description: 'Of a city',
  parameters: { type: 'object', properties: {} },
};
const CALL = { id: 'chatcmpl-tool-1', name: 'weather', arguments: '{"city":"Oslo"}' };
const LOOP: Message[] = [
  { role: 'user', pieces: ['Weather?'] },
  { role: 'assistant', pieces: [], calls: [CALL] },
  { role: 'tool', pieces: ['Rain'], callId: CALL.id },
];

function laidOut(chatTemplate: string, messages: Message[], tools: Tool[] = [TOOL]) {
  const model = new FakeModel({ chatTemplate });
  const request = { messages, form: 'messages' as const, think: false, contextTokens: 100_000, reserve: 1 };
  const { parts } = tokenPrompt(model, { ...request, tools: { tools, choice: 'auto', parallel: true } });
  const ids = parts.flatMap(({ tokens }) => [...tokens]);
  return { ids, text: model.detokenize(ids, { special: true }), model };
}

/** A template that declares tools, and writes each message by this expression. */
const template = (message: string): string =>
  `{{ tools | tojson }}{% for m in messages %}${message}|{% endfor %}`;

const EACH = '{{ m.content }}{% for c in m.tool_calls or [] %}';

describe('a template', () => {
  test.each([
    [
      'with arguments as objects',
      `${EACH}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}`,
    ],
    ['with arguments as text', `${EACH}{{ c.function.name + c.function.arguments }}{% endfor %}`],
    [
      'with null for no content',
      '{% if m.content is none %}{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% else %}{{ m.content }}{% endif %}',
    ],
  ])('%s shows calls', (_, message) => {
    const { text } = laidOut(template(message), LOOP);
    expect(text.replaceAll(': ', ':')).toContain('Weather?|weather{"city":"Oslo"}|Rain|');
  });

  test('that numbers calls gets nine letters and digits', () => {
    const message = `${EACH}{{ c.id }}{% endfor %}{{ m.tool_call_id }}{{ m.name }}`;
    expect(laidOut(template(message), LOOP).text).toContain('Weather?|call00001|Raincall00001weather|');
  });

  test('that queues the ids of calls in a list, as Kimi K2, names them in the results', () => {
    const called =
      "{%- set id = 'functions.' + c.function.name + ':' + (loop.index0 | string) -%}{%- set _ = queue.ids.append(id) -%}{{ id }}";
    const message =
      "{%- if m.role == 'tool' -%}{%- set id = queue.ids.pop(0) -%}Return of {{ id }}: {{ m.content }}" +
      `{%- else -%}{{ m.content }}{%- for c in m.tool_calls or [] -%}${called}{%- endfor -%}{%- endif -%}`;
    const chatTemplate = `{%- set queue = namespace(ids=[]) -%}${template(message)}`;
    const two = [CALL, { ...CALL, id: 'b' }];
    const loop: Message[] = [
      { role: 'user', pieces: ['Weather?'] },
      { role: 'assistant', pieces: [], calls: two },
      ...two.map(({ id }) => ({ role: 'tool' as const, pieces: [id], callId: id })),
    ];
    expect(laidOut(chatTemplate, loop).text).toContain(
      `Weather?|functions.weather:0functions.weather:1|Return of functions.weather:0: ${CALL.id}|Return of functions.weather:1: b|`,
    );
  });

  test('that drops the text before a call loses no more', () => {
    const message =
      '{% if m.tool_calls %}{{ m.tool_calls[0].function.name }}{% else %}{{ m.content }}{% endif %}';
    const said = LOOP.map((each) => (each.calls ? { ...each, pieces: ['I look.'] } : each));
    expect(laidOut(template(message), said).text).toContain('Weather?|weather|Rain|');
    const all = `{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}`;
    expect(laidOut(template(all), said).text).toContain('Weather?|I look.weather|Rain|');
  });

  test.each([
    ['Granite 3', '<|tool_call|>', '<|tool_call|>[{"name": "weather", "arguments": {"city": "Oslo"}}]'],
    ['LFM2', 'List of tools: [', '<|tool_call_start|>[weather(city="Oslo")]<|tool_call_end|>'],
  ])('of %s, which drops calls, gets them as content', (_, mark, says) => {
    const { text } = laidOut(mark + template('{{ m.content }}'), LOOP);
    expect(text).toContain(`Weather?|${says}|Rain|`);
    const said = LOOP.map((each) => (each.calls ? { ...each, pieces: ['I look.'] } : each));
    expect(laidOut(mark + template('{{ m.content }}'), said).text).toContain(`|I look.${says}|Rain|`);
  });

  test('that drops calls, or has no tools, is refused', () => {
    const drops = template('{{ m.content }}');
    expect(laidOut(drops, LOOP.slice(0, 1)).text).toContain('weather');
    expect(() => laidOut(drops, LOOP)).toThrow(/Tools are not supported by the chat template of/);
    expect(() => laidOut(drops.replace('tools', 'none'), LOOP.slice(0, 1))).toThrow(
      /Tools are not supported/,
    );
  });
});

test.each([
  TOOL_TEMPLATE,
  `<|tool_call|>${template('{{ m.content }}')}`,
  `<|tool_call_start|>${template('{{ m.content }}')}`,
])('texts of tools and arguments are no control tokens', (chatTemplate) => {
  const control = '<|im_end|>';
  const border = '\uE001';
  const parameters = { [control]: { enum: [border, control, border] } };
  const tool = { ...TOOL, description: `Of ${border}${control}`, parameters };
  const call = { ...CALL, name: `f${control}`, arguments: JSON.stringify({ [control]: [control] }) };
  const messages = LOOP.map((each) => (each.calls ? { ...each, calls: [call] } : each));
  const { ids, text, model } = laidOut(chatTemplate, messages, [tool]);
  expect(text.split(control)).toHaveLength(7);
  expect(ids).not.toContain(model.tokenize(control, { special: true })[0]);
});
