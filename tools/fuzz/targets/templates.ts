/** Chat templates of models: those of families in pieces that are mixed, and expressions made by a grammar. */
import { messagesFrame, type FrameMessage } from '../../../src-main/answering/template.ts';
import { CHAT_TEMPLATES } from '../../../src-main/testing/chat-templates.ts';
import { mutate, pick, type Random } from '../mutate.ts';
import type { Target } from '../search.ts';

interface Input {
  template: string;
  messages: FrameMessage[];
  think: boolean;
  tools: boolean;
}

const TEMPLATES = Object.values(CHAT_TEMPLATES);
/** Tags and the text between them. */
const PIECES = TEMPLATES.flatMap(piecesOf);

const CONVERSATIONS: readonly FrameMessage[][] = [
  [{ role: 'user' }],
  [{ role: 'system', text: 'Be brief.' }, { role: 'user' }, { role: 'assistant' }, { role: 'user' }],
  [
    { role: 'user' },
    { role: 'assistant', calls: [{ id: 'call00001', name: 'search', arguments: '{"query":"x"}' }] },
    { role: 'tool', callId: 'call00001' },
  ],
];
const TOOL = { name: 'search', description: 'Finds', parameters: { type: 'object', properties: {} } };

const VALUES = [
  ...[
    'messages',
    'messages[0]',
    'messages[-1].content',
    'tools',
    'bos_token',
    'x',
    'none',
    'true',
    'loop.index',
  ],
  ...['0', '-1', '1.5', '10 ** 9', '2 ** 53', '1e308', "''", "'a'", "'文' * 9", '[]', '[1, [2]]', "{'a': 1}"],
  ...['range(9)', 'range(10 ** 7)', "'x' * 10 ** 8", '[0] * 10 ** 7', 'namespace(a=1)', 'strftime_now("%Y")'],
];
const OPERATORS = [
  '+',
  '-',
  '*',
  '/',
  '//',
  '%',
  '**',
  '~',
  '==',
  '<',
  'in',
  'not in',
  'and',
  'or',
  'if x else',
];
const FILTERS = [
  ...[
    'trim',
    'length',
    'upper',
    'list',
    'first',
    'last',
    'join(",")',
    'tojson',
    'tojson(indent=9999)',
    'sort',
  ],
  ...['replace("a", "aa" * 999)', 'items', 'string', 'int', 'default(1)', 'selectattr("role")', 'map("x")'],
  ...[
    'indent(10 ** 9)',
    'reverse',
    'unique',
    'batch(2)',
    'dictsort',
    'safe',
    'center(10 ** 9)',
    'abs',
    'round(99)',
  ],
];
const METHODS = [
  ...[
    'split("")',
    'split("a")',
    'strip()',
    'items()',
    'get("x")',
    'format(1, 2)',
    'rjust(10 ** 9)',
    'keys()',
  ],
  ...['replace("", "aaaa")', 'encode()', '__class__', 'constructor', '__proto__', 'append(1)', 'index("x")'],
];

export function openTemplates(): Target {
  return { make, run, mostMs: 3000, inputs: 40, reaches: ['rendered', 'plain'] };
}

function make(random: Random): string {
  const how = random();
  const template = how < 0.5 ? mixed(random) : how < 0.8 ? program(random, 0) : bytes(random);
  const messages = [...pick(CONVERSATIONS, random)];
  return JSON.stringify({ template, messages, think: random() < 0.5, tools: random() < 0.3 } satisfies Input);
}

function run(input: string): Promise<string> {
  const { template, messages, think, tools } = JSON.parse(input) as Input;
  const info = { chatTemplate: template, bosText: '<s>', eosText: '</s>' };
  const options = { think, tools: tools ? [TOOL] : [] };
  const { texts, plainBecause } = messagesFrame(info, messages, options);
  const holes = messages.filter(({ text }) => text === undefined).length;
  if (plainBecause === undefined && texts.length !== holes + 1)
    throw new Error(`${texts.length} texts around ${holes} messages`);
  if (/\bnull\b|\[object|\n/.test(plainBecause?.replace(/\(.*\)/s, '') ?? ''))
    throw new Error(`said: ${plainBecause}`);
  return Promise.resolve(plainBecause === undefined ? 'rendered' : 'plain');
}

function piecesOf(template: string): string[] {
  return template.split(/(\{[%{#].*?[%}#]\})/s).filter((piece) => piece !== '');
}

/** One to four pieces removed, repeated, moved, or taken from other templates. */
function mixed(random: Random): string {
  const pieces = piecesOf(pick(TEMPLATES, random));
  for (let n = 1 + Math.floor(random() * 4); n > 0; n--) {
    const at = Math.floor(random() * pieces.length);
    const [piece = ''] = pieces.splice(at, random() < 0.6 ? 1 : 0);
    const put = pick(
      [[], [piece, piece], [pick(PIECES, random)], [`{{ ${expression(random, 0)} }}`]],
      random,
    );
    pieces.splice(Math.floor(random() * pieces.length), 0, ...put);
  }
  return pieces.join('');
}

function bytes(random: Random): string {
  return mutate(Buffer.from(pick(TEMPLATES, random)), random).toString();
}

function program(random: Random, depth: number): string {
  const inner = (): string => (depth < 4 ? program(random, depth + 1) : 'text');
  const value = (): string => expression(random, 0);
  const statements = [
    () => `{{ ${value()} }}`,
    () => `{%- set x = ${value()} %}`,
    () => `{% for x in ${value()} %}${inner()}{% else %}${inner()}{% endfor %}`,
    () => `{% if ${value()} %}${inner()}{% elif ${value()} %}${inner()}{% endif %}`,
    () => `{% macro m(a, b=${value()}) %}${inner()}{{ m(a) }}{% endmacro %}{{ m(${value()}) }}`,
    () =>
      `{% set n = namespace(x=${value()}) %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}`,
    () => `{% for message in messages %}{{ message.role ~ message.content }}{% endfor %}`,
    () => `{% filter ${pick(FILTERS, random)} %}${inner()}{% endfilter %}`,
    () => `{% call m(${value()}) %}${inner()}{% endcall %}`,
  ];
  return Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(statements, random)()).join('');
}

function expression(random: Random, depth: number): string {
  const value = (): string =>
    depth < 3 && random() < 0.5 ? expression(random, depth + 1) : pick(VALUES, random);
  return pick(
    [
      () => value(),
      () => `(${value()} ${pick(OPERATORS, random)} ${value()})`,
      () => `(${value()}) | ${pick(FILTERS, random)}`,
      () => `(${value()}).${pick(METHODS, random)}`,
      () => `(${value()})[${value()}:${value()}]`,
      () => `(${value()})[${value()}]`,
      () => `${'('.repeat(200)}${value()}${')'.repeat(200)}`,
    ],
    random,
  )();
}
