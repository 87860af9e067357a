import { expect, test } from 'vitest';
import { decodeEntities, safeLink } from './links.ts';

test.each([
  ['https://example.org/a?b=c', 'example.org'],
  ['http://127.0.0.1:8080/', '127.0.0.1:8080'],
  ['mailto:mara@example.org', 'mara@example.org'],
  ['HTTPS://EXAMPLE.ORG', 'example.org'],
])('%s may be opened', (href, target) => {
  expect(safeLink(href)?.target).toBe(target);
});

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript&colon;alert(1)',
  '&#106;avascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://example.org/x',
  '//example.org',
  '/relative',
  '#anchor',
  '',
])('%j is dead', (href) => {
  expect(safeLink(href)).toBeUndefined();
});

test('entities become characters, and nonsense stays', () => {
  expect(decodeEntities('a &lt;b&gt; &amp; &#65;&#x42; &copy; &nosuch; & &#0;')).toBe(
    'a <b> & AB © &nosuch; & \ufffd',
  );
});
