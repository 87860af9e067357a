import { describe, expect, test } from 'vitest';
import { CHAT_TEMPLATES } from '../testing/chat-templates.ts';
import { FakeModel } from '../testing/fusion.ts';
import { SYSTEM_EDGE } from './template-messages.ts';
import { messagesFrame, templateFailure, type FrameMessage } from './template.ts';

const SYSTEM = 'Be brief.';

/** The texts before each question, and between it and its answer: where that was generated, and where it is shown later. */
function turnsOf(
  info: FakeModel['info'],
  { turns, systemPrompt, think }: { turns: number; systemPrompt?: string; think?: boolean },
) {
  const asked = Array.from({ length: turns }, (): FrameMessage[] => [
    { role: 'user' },
    { role: 'assistant' },
  ]);
  const messages = asked.flat().slice(0, -1);
  if (systemPrompt !== undefined) messages.unshift({ role: 'system', text: systemPrompt });
  const { texts, plainBecause } = messagesFrame(info, messages, { think, turns: true });
  const after = texts.at(-1);
  const shown = asked.map((_, i) => ({ before: texts[2 * i] ?? '', after, answered: texts[2 * i + 1] }));
  return { turns: shown, plainBecause };
}

const CHATML = { after: '<|im_end|>\n<|im_start|>assistant\n', next: '<|im_end|>\n<|im_start|>user\n' };
const NO_THOUGHT = '<think>\n\n</think>\n';
const MISTRAL = { after: '[/INST]', next: '</s>[INST]' };
const GEMMA = {
  after: '<end_of_turn>\n<start_of_turn>model\n',
  next: '<end_of_turn>\n<start_of_turn>user\n',
  system: `<s><start_of_turn>user\n${SYSTEM}\n\n`,
};

const GEMMA_4 = {
  after: '<turn|>\n<|turn>model\n',
  next: '<turn|>\n<|turn>user\n',
  system: `<s><|turn>system\n${SYSTEM}<turn|>\n<|turn>user\n`,
};

interface ExpectedFrame {
  /** Between a question and its answer; without a thought where possible. */
  after: string;
  /** Between an answer and what the next question begins with. */
  next: string;
  /** The beginning of a conversation with a system prompt, without the current time. */
  system: string;
  /** The text before an answer with thinking. Default: as without. */
  thinking?: string;
  /** The text before an answer whose thought was dropped. Default: as `thinking`. */
  answered?: string;
}

const FAMILIES: Record<keyof typeof CHAT_TEMPLATES, ExpectedFrame> = {
  llama: {
    after: '<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
    next: '<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n',
    system: `\n\n${SYSTEM}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n`,
  },
  qwen2: { ...CHATML, system: `<|im_start|>system\n${SYSTEM}<|im_end|>\n<|im_start|>user\n` },
  qwen3: {
    ...CHATML,
    after: `${CHATML.after}${NO_THOUGHT}\n`,
    thinking: CHATML.after,
    system: `<|im_start|>system\n${SYSTEM}<|im_end|>\n<|im_start|>user\n`,
  },
  qwen3Thinking: {
    ...CHATML,
    after: `${CHATML.after}<think>\n`,
    answered: CHATML.after,
    system: `<|im_start|>system\n${SYSTEM}<|im_end|>\n<|im_start|>user\n`,
  },
  qwen3vl: { ...CHATML, system: `<|im_start|>system\n${SYSTEM}<|im_end|>\n<|im_start|>user\n` },
  mistral3: { ...MISTRAL, system: `<s>[SYSTEM_PROMPT]${SYSTEM}[/SYSTEM_PROMPT][INST]` },
  mistralBefore: {
    after: '[/INST]',
    next: '</s>[INST] ',
    answered: '[/INST] ',
    system: `<s>[INST] ${SYSTEM}\n\n`,
  },
  phi3: {
    after: '<|end|>\n<|assistant|>\n',
    next: '<|end|>\n<|user|>\n',
    system: `<|system|>\n${SYSTEM}<|end|>\n<|user|>\n`,
  },
  phi4: {
    after: '<|im_end|><|im_start|>assistant<|im_sep|>',
    next: '<|im_end|><|im_start|>user<|im_sep|>',
    system: `<|im_start|>system<|im_sep|>${SYSTEM}<|im_end|><|im_start|>user<|im_sep|>`,
  },
  granite: {
    after: '<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>',
    next: '<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>',
    system: `<|start_of_role|>system<|end_of_role|>${SYSTEM}<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>`,
  },
  smollm3: {
    ...CHATML,
    after: CHATML.after + NO_THOUGHT,
    thinking: CHATML.after,
    system: `## Custom Instructions\n\n${SYSTEM}\n\n<|im_end|>\n<|im_start|>user\n`,
  },
  glm4: {
    after: '<|assistant|>',
    answered: '<|assistant|>\n',
    next: '<|user|>\n',
    system: `[gMASK]<sop><|system|>\n${SYSTEM}<|user|>\n`,
  },
  glm47: {
    after: '<|assistant|></think>',
    thinking: '<|assistant|><think>',
    answered: '<|assistant|></think>',
    next: '<|user|>',
    system: `[gMASK]<sop><|system|>${SYSTEM}<|user|>`,
  },
  olmo2: {
    after: '\n<|assistant|>\n',
    next: '</s>\n<|user|>\n',
    system: `<s><|system|>\n${SYSTEM}\n<|user|>\n`,
  },
  gemma3: GEMMA,
  gemma2: GEMMA,
  gemma4: GEMMA_4,
  gemma4Large: {
    ...GEMMA_4,
    after: `${GEMMA_4.after}<|channel>thought\n<channel|>`,
    thinking: GEMMA_4.after,
  },
  gptOss: {
    after: '<|end|><|start|>assistant',
    answered: '<|end|><|start|>assistant<|channel|>final<|message|>',
    next: '<|end|><|start|>user<|message|>',
    system: `<|end|><|start|>developer<|message|># Instructions\n\n${SYSTEM}\n\n<|end|><|start|>user<|message|>`,
  },
};

const families = Object.entries(FAMILIES) as [keyof typeof CHAT_TEMPLATES, ExpectedFrame][];

describe.each(families)('%s', (family, { after, next, system, thinking = after, answered = thinking }) => {
  const { info } = new FakeModel({ chatTemplate: CHAT_TEMPLATES[family] });

  test('is rendered as published, for every turn', () => {
    const [first, ...others] = turnsOf(info, { turns: 3 }).turns;
    expect(first).toMatchObject({ after });
    expect(others).toHaveLength(2);
    for (const turn of others) expect(turn).toMatchObject({ before: next, after });
    expect(turnsOf(info, { turns: 1 }).turns[0]).toEqual({ ...first, answered: after });
  });

  test('takes a system prompt, which comes first however many turns there are', () => {
    for (const turns of [1, 2, 3]) {
      const frame = turnsOf(info, { turns, systemPrompt: SYSTEM });
      expect(frame.plainBecause).toBeUndefined();
      expect(frame.turns[0]?.before.replaceAll(SYSTEM_EDGE, '').endsWith(system)).toBe(true);
      expect(frame.turns[0]?.before.split(SYSTEM_EDGE)[1]).toBe(SYSTEM);
      const whole = JSON.stringify(frame.turns);
      expect(whole.split(SYSTEM)).toHaveLength(2);
      expect(frame.turns.slice(1).every(({ before }) => before === next)).toBe(true);
    }
  });

  test('thinks before an answer where that is wished and can be, and leaves it out of past turns', () => {
    const { turns } = turnsOf(info, { turns: 2, think: true });
    expect(turns[0]).toMatchObject({ after: thinking, answered });
  });

  test('gets no tools', () => {
    const { turns } = turnsOf(info, { turns: 2, systemPrompt: SYSTEM, think: true });
    expect(JSON.stringify(turns)).not.toMatch(/tool/i);
  });
});

/** A rendered conversation whose placeholders show the index of their message. */
function shownIn(chatTemplate: string, roles: FrameMessage['role'][]): string {
  const { info } = new FakeModel({ chatTemplate });
  const { texts, plainBecause } = messagesFrame(
    info,
    roles.map((role) => ({ role })),
  );
  expect(plainBecause).toBeUndefined();
  return texts.map((text, i) => text + (i < roles.length ? String(i) : '')).join('');
}

/** Each message under its role, as `body` writes it. */
const eachMessage = (body = '{{ m.role }}:{{ m.content }};'): string =>
  `{% for m in messages %}${body}{% endfor %}`;

describe('a conversation that a template does not take as it is', () => {
  const LATER: FrameMessage['role'][] = ['system', 'user', 'assistant', 'system', 'user'];

  test.each(['smollm3', 'gptOss'] as const)('keeps its first system message in place: %s', (family) => {
    const shown = shownIn(CHAT_TEMPLATES[family], LATER);
    const marks = { smollm3: '## Custom Instructions\n\n0', gptOss: '# Instructions\n\n0' };
    expect(shown).toContain(marks[family]);
    expect(shown).toContain('3\n\n4');
  });

  test('has later system messages in the next question where the template takes the last one only', () => {
    const last = `{% set ns = namespace(s='') %}${eachMessage("{% if m.role == 'system' %}{% set ns.s = m.content %}{% endif %}")}S:{{ ns.s }};${eachMessage("{% if m.role != 'system' %}{{ m.role }}:{{ m.content }};{% endif %}")}`;
    expect(shownIn(last, LATER)).toBe('S:0;user:1;assistant:2;user:3\n\n4;');
    expect(shownIn(last, ['system', 'system', 'user'])).toBe('S:0\n\n1;user:2;');
  });

  const USER_FIRST = `{% if messages[0].role == 'system' %}S:{{ messages[0].content }};{% set messages = messages[1:] %}{% endif %}${eachMessage("{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{{ m.role }}:{{ m.content }};")}`;

  test('begins with an empty message of the user where the template wants one', () => {
    expect(shownIn(USER_FIRST, ['assistant', 'user'])).toBe('user:;assistant:0;user:1;');
    expect(shownIn(USER_FIRST, ['system', 'assistant', 'user'])).toBe('S:0;user:;assistant:1;user:2;');
  });

  test('begins with the system message as one of the user where the template has no such slot', () => {
    const noSystem = USER_FIRST.replace(/S:.*?;/, "{{ raise_exception('no system role') }}");
    expect(shownIn(noSystem, ['system', 'assistant', 'user'])).toBe('user:0;assistant:1;user:2;');
  });

  test('has its texts in lists where the template reads lists', () => {
    const lists = eachMessage(
      "{{ m.role }}:{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %};",
    );
    expect(shownIn(lists, ['system', 'user'])).toBe('system:0;user:1;');
  });

  test('is never shown as a list of Python', () => {
    const dropsText = eachMessage('{% if m.content is not string %}{{ m.content }}{% endif %}');
    const { info } = new FakeModel({ chatTemplate: dropsText });
    expect(messagesFrame(info, [{ role: 'user' }]).plainBecause).toMatch(/does not keep the message/);
  });
});

test.each([
  [
    'integer keys, as in Seed-OSS',
    '{%- set budgets = {0: 0, 512: 128} -%}{% for t, b in budgets | dictsort %}{{ b }},{% endfor %}',
  ],
  ['undefined tools, as in Apriel', '{% if tools is not none and tools | length > 0 %}tools{% endif %}'],
  [
    'tools that are none, as in Functionary',
    "{% if not tools is defined %}{% set tools = none %}{% endif %}{{ tools | selectattr('type', 'equalto', 'code') | list | length }}",
  ],
  ['an attribute that is none', "{{ [{'a': none}, {'a': 1}] | selectattr('a', 'none') | list | length }}"],
  ["a tokenizer's tokens, as in GigaChat", '{{ additional_special_tokens[0] }}'],
  ['a block that is not parsed', '{% raw %}{{ {% endraw %}'],
  ['a generation block', '{% generation %}g{% endgeneration %}'],
])('a template may have %s', (_, construct) => {
  expect(shownIn(construct + eachMessage(), ['user'])).toMatch(/user:0;$/);
});

test('gpt-oss thinks little where it need not think', () => {
  const { info } = new FakeModel({ chatTemplate: CHAT_TEMPLATES.gptOss });
  const effort = (think: boolean) =>
    /Reasoning: (\w+)/.exec(turnsOf(info, { turns: 1, think }).turns[0]?.before ?? '')?.[1];
  expect([effort(false), effort(true)]).toEqual(['low', 'medium']);
});

test('a template is tried before the first question', () => {
  const info = { name: 'Bygg', bosText: '<s>', eosText: '</s>' };
  const failure = (chatTemplate: string) => templateFailure({ ...info, chatTemplate });
  expect(failure('{% for %}')?.message).toMatch(/^Bygg can be used, but .*cannot be rendered/);
  expect(failure('You said something.')?.message).toMatch(/does not keep the message/);
  expect(failure('')).toBeUndefined();
  expect(Object.values(CHAT_TEMPLATES).map(failure).filter(Boolean)).toEqual([]);
});
