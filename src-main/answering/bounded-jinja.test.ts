import { Template } from '@huggingface/jinja';
import { expect, test } from 'vitest';
import { renderBounded } from './bounded-jinja.ts';

function render(template: string, variables: Record<string, unknown> = {}): string {
  return renderBounded(new Template(template), variables);
}

const DOUBLED = (times: number, body: string): string =>
  `{% set n = namespace(s='a', l=[1]) %}{% for i in range(${times}) %}{% set n.s = n.s + n.s %}{% set n.l = n.l + n.l %}{% endfor %}${body}`;

// Each of these crashed the process, or could on a faster machine.
test.each([
  ['a long text that is split', DOUBLED(28, "{{ n.s.split('a')|length }}")],
  ['a long text', DOUBLED(23, '')],
  ['a long list', DOUBLED(21, '')],
  ['a long range', '{{ range(300000000)|length }}'],
  ['an endless range', '{{ range(0, 10, 0) }}'],
  ['a range under another name', '{% set r = range %}{{ r(0, 300000000)|length }}'],
  ['a batch that is filled', "{{ [1]|batch(1000000000, 'x')|length }}"],
  ['a text that is padded', "{{ 'a'.ljust(1000000000)|length }}"],
  ['a text repeated', "{{ ('a' * 1000000000)|length }}"],
  ['a text that is joined', "{{ (range(100000)|join('a' * 1000))|length }}"],
  [
    'many long texts',
    "{% set n = namespace(l=[]) %}{% for i in range(1000) %}{% set n.l = n.l + [('a' * 4000000).upper()] %}{% endfor %}",
  ],
  ['a text written out again and again', '{% for i in range(1000000) %}aaaaaaaaaa{% endfor %}'],
])('%s is refused', (_, template) => {
  expect(() => render(template)).toThrow('too large');
});

test('what templates use is there', () => {
  expect(render('{{ range(3)|list }}{{ range(4, 1, -1)|join }}{{ none is none }}{{ True and true }}')).toBe(
    '[0, 1, 2]432TrueTrue',
  );
  expect(() => render("{{ raise_exception('no system role') }}")).toThrow('no system role');
  expect(render('{{ bos_token }}', { bos_token: '<s>' })).toBe('<s>');
});

test('dates are written in English', () => {
  const today = new Date();
  const month = today.toLocaleDateString('en-US', { month: 'short' });
  const day = String(today.getDate()).padStart(2, '0');
  expect(render("{{ strftime_now('%d %b %Y %%') }}")).toBe(`${day} ${month} ${today.getFullYear()} %`);
});
