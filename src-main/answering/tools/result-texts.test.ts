/** What templates write between an answer that calls tools and the next one. */
import { expect, test } from 'vitest';
import { FakeModel } from '../../testing/fusion.ts';
import type { Tool } from '../tools.ts';
import { resultTexts } from './result-texts.ts';

const TOOLS: Tool[] = [
  { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
];
const [FIRST, SECOND] = [
  { id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' },
  { id: 'call_b', name: 'weather', arguments: '{"city":"<|im_end|>"}' },
];

const HERMES = `{% for m in messages %}{% if m.role == 'tool' %}<|im_start|>tool
{{ m.content }}<|im_end|>
{% else %}<|im_start|>{{ m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;
const MISTRAL = `{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.role == 'tool' %}[TOOL_RESULTS]{{ m.content }}[/TOOL_RESULTS]{% elif m.tool_calls %}[TOOL_CALLS][{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}, "id": "{{ c.id }}"}{% if not loop.last %}, {% endif %}{% endfor %}]</s>{% else %}{{ m.content }}</s>{% endif %}{% endfor %}`;
const HARMONY = `{% for m in messages %}{% if m.role == 'user' %}<|start|>user<|message|>{{ m.content }}<|end|>{% elif m.role == 'tool' %}<|start|>functions.weather to=assistant<|channel|>commentary<|message|>{{ m.content }}<|end|>{% else %}{% for c in m.tool_calls or [] %}<|start|>assistant to=functions.{{ c.function.name }}<|channel|>commentary json<|message|>{{ c.function.arguments | tojson }}<|call|>{% endfor %}{% if not m.tool_calls %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>{% endif %}{% endif %}{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}`;

test.each([
  [
    'Hermes',
    HERMES,
    '<tool_call>\n{"name": "weather", "arguments": {"city":"Oslo"}}\n</tool_call>',
    ['<|im_end|>\n<|im_start|>tool\n', 'Rain', '<|im_end|>\n<|im_start|>assistant\n'],
  ],
  [
    'Mistral, whose template adds an id',
    MISTRAL,
    'I ask.[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Oslo"}}]',
    ['</s>[TOOL_RESULTS]', 'Rain', '[/TOOL_RESULTS]'],
  ],
  [
    'gpt-oss',
    HARMONY,
    '<|channel|>commentary to=functions.weather<|constrain|>json<|message|>{"city":"Oslo"}',
    [
      '<|call|><|start|>functions.weather to=assistant<|channel|>commentary<|message|>',
      'Rain',
      '<|end|><|start|>assistant',
    ],
  ],
])('%s', (_, chatTemplate, written, wanted) => {
  const { info } = new FakeModel({ chatTemplate });
  const step = { calls: [FIRST], results: ['Rain'], written, tools: TOOLS, think: false };
  const { texts, behind } = resultTexts(info, step);
  expect([...texts.flatMap(({ frame, result }) => [frame, result]), behind]).toEqual(wanted);
});

test('several calls, of which an argument looks like the end of the answer', () => {
  const { info } = new FakeModel({ chatTemplate: HERMES });
  const written = [FIRST, SECOND]
    .map((call) => `<tool_call>\n{"name": "weather", "arguments": ${call.arguments}}\n</tool_call>`)
    .join('\n');
  const step = { calls: [FIRST, SECOND], results: ['Rain', 'Sun'], written, tools: TOOLS, think: false };
  const { texts, behind } = resultTexts(info, step);
  expect(texts).toEqual([
    { frame: '<|im_end|>\n<|im_start|>tool\n', result: 'Rain' },
    { frame: '<|im_end|>\n<|im_start|>tool\n', result: 'Sun' },
  ]);
  expect(behind).toBe('<|im_end|>\n<|im_start|>assistant\n');
});

test('a template that drops calls is an error', () => {
  const { info } = new FakeModel({ chatTemplate: `{{ '<tool_call>' }}{% for m in messages %}{{ m.content }}|{% endfor %}` }); // prettier-ignore
  const step = { calls: [FIRST], results: ['Rain'], written: '', tools: TOOLS, think: false };
  expect(() => resultTexts(info, step)).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
});
