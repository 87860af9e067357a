import { expect, test } from 'vitest';
import type { ServerContext } from './failures.ts';
import { scrub, serverError } from './failures.ts';
import { resultText } from './result-text.ts';
import { toolName } from './tool-name.ts';

test('a tool is called by its server and its name', () => {
  expect(toolName('files', 'read_file')).toBe('files__read_file');
  expect(toolName('my-server', 'a')).toBe('my-server__a');
});

test.each([
  ['My server', 'read'],
  ['服务器', '读取'],
  ['s', 'x'.repeat(100)],
  ['a.b', 'c/d'],
])('names that models cannot say are cut and cleaned: %s, %s', (server, tool) => {
  expect(toolName(server, tool)).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(toolName(server, tool)).toBe(toolName(server, tool));
});

test('different tools have different names', () => {
  const pairs = [
    ['a__b', 'c'],
    ['a', 'b__c'],
    ['a_', 'b'],
    ['a', '_b'],
    ['a b', 'c'],
    ['a.b', 'c'],
    ['a', 'x'.repeat(80)],
    ['a', 'x'.repeat(81)],
    ['服务', 'c'],
    ['务服', 'c'],
  ] as const;
  expect(new Set(pairs.map(([server, tool]) => toolName(server, tool))).size).toBe(pairs.length);
});

test('text stays; pictures, sound and resources are named in words', () => {
  const data = Buffer.alloc(1500).toString('base64');
  const text = resultText({
    content: [
      { type: 'text', text: 'Two files.' },
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'audio', data, mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.md', text: '# A' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: data } },
      { type: 'resource_link', uri: 'file:///c', name: 'c', description: 'the third' },
    ],
  });
  expect(text.split('\n\n')).toEqual([
    'Two files.',
    '[image: image/png, 1.5 kB]',
    '[audio: audio/wav, 1.5 kB]',
    '[resource file:///a.md]\n# A',
    '[resource file:///b: binary, 1.5 kB]',
    '[resource file:///c: c, the third]',
  ]);
});

test('structured content is JSON, once', () => {
  const structuredContent = { a: 1, b: [2] };
  expect(resultText({ content: [], structuredContent })).toBe('{"a":1,"b":[2]}');
  const repeated = { type: 'text' as const, text: '{ "b": [2], "a": 1 }' };
  expect(resultText({ content: [repeated], structuredContent })).toBe(repeated.text);
  const other = { type: 'text' as const, text: 'One.' };
  expect(resultText({ content: [other], structuredContent })).toBe('One.\n\n{"a":1,"b":[2]}');
  expect(resultText({ content: [] })).toBe('(The tool returned nothing.)');
});

const PROGRAM: ServerContext = {
  name: 'Demo',
  config: { command: 'demo', args: [], env: { KEY: 'sk-0123456789', N: '1' } },
  stderr: 'bad key sk-0123456789\n',
};
const ADDRESS: ServerContext = {
  name: 'Demo',
  config: { url: 'http://a.example', headers: { Authorization: 'Bearer sk-0123456789' } },
  stderr: '',
};

test('no error contains a key that the server got', () => {
  expect(scrub('key sk-0123456789, line 1', PROGRAM)).toBe('key …, line 1');
  expect(scrub('got Bearer sk-0123456789 or sk-0123456789', ADDRESS)).toBe('got … or …');
  const ended = serverError(Object.assign(new Error('Connection closed'), { code: -32000 }), PROGRAM);
  expect(ended).toMatchObject({
    code: 'MCP_EXITED',
    message: 'The program of Demo ended. It wrote: bad key …',
  });
});

test.each([
  [Object.assign(new Error('spawn demo ENOENT'), { code: 'ENOENT', path: 'demo' }), PROGRAM, 'MCP_COMMAND'],
  [Object.assign(new Error('HTTP 401'), { code: 401 }), ADDRESS, 'MCP_SIGN_IN'],
  [Object.assign(new Error('HTTP 500'), { code: 500 }), ADDRESS, 'MCP_PROTOCOL'],
  [new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }), ADDRESS, 'MCP_UNREACHABLE'],
  [new Error('Unexpected token <'), PROGRAM, 'MCP_PROTOCOL'],
])('%s', (error, server, code) => {
  const failure = serverError(error, server);
  expect(failure.code).toBe(code);
  expect(failure.message).toContain('Demo');
  expect(failure.advice).not.toBe('');
});
