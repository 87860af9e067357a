import { describe, expect, test } from 'vitest';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import {
  argumentLine,
  asCode,
  copyText,
  isReadingResult,
  partsOf,
  sentencesIn,
  onlyDescription,
} from './call-views.ts';

function call(id: string, offset: number, changes: Partial<ToolCall> = {}): ToolCall {
  const fields = { name: 'calculator', title: 'Calculator', server: null, arguments: '{"expression":"6*7"}' };
  return { id, offset, ...fields, state: 'done', result: '42', ms: 3, ...changes };
}

const TEXT = 'I calculate it.It is 42.';
const CALLS = [call('a', 15), call('b', 15)];

describe('parts of an answer', () => {
  test('are cut where tools were called, with the calls before their text', () => {
    expect(partsOf(TEXT, CALLS)).toEqual([
      { start: 0, text: 'I calculate it.', calls: [] },
      { start: 15, text: 'It is 42.', calls: CALLS },
    ]);
    expect(partsOf(TEXT, [])).toEqual([{ start: 0, text: TEXT, calls: [] }]);
    expect(partsOf('', [call('a', 0)])).toEqual([{ start: 0, text: '', calls: [call('a', 0)] }]);
  });

  test('show a call whose text is not there yet', () => {
    expect(partsOf('I calc', CALLS).map(({ calls }) => calls.length)).toEqual([0, 2]);
  });

  test('have the sentences that end in them', () => {
    const sentences = [
      { start: 0, end: 15, sources: [] },
      { start: 15, end: 24, sources: [] },
    ];
    const [first, second] = partsOf(TEXT, CALLS);
    const endsIn = (part: typeof first) =>
      part && sentencesIn(part, sentences).map(({ index, end }) => [index, end]);
    expect(endsIn(first)).toEqual([[0, 15]]);
    expect(endsIn(second)).toEqual([[1, 9]]);
  });
});

test('a copy has paragraphs in place of calls, or lines about them with the numbers of sources', () => {
  expect(copyText({ text: TEXT, calls: CALLS })).toBe('I calculate it.\n\nIt is 42.');
  const sentences = [{ start: 15, end: 24, sources: [{ citation: 1, start: 0, end: 2 }] }];
  const lineOf = ({ id, title }: ToolCall) => `> ${title} ${id}`;
  expect(copyText({ text: TEXT, calls: CALLS }, sentences, lineOf)).toBe(
    'I calculate it.\n\n> Calculator a\n> Calculator b\n\nIt is 42. [2]',
  );
});

test('a result is being read until a word comes after the last call, if none asks or runs', () => {
  expect(isReadingResult({ text: 'I calculate it. ', calls: CALLS })).toBe(true);
  expect(isReadingResult({ text: TEXT, calls: CALLS })).toBe(false);
  expect(isReadingResult({ text: '', calls: [] })).toBe(false);
  expect(isReadingResult({ text: '', calls: [call('a', 0), call('b', 0, { state: 'asking' })] })).toBe(false);
});

test('arguments are shown in one line, cut where they are long', () => {
  expect(argumentLine('{"expression":"6*7"}')).toBe('6*7');
  expect(argumentLine('{"path":"a\\n b","lines":[1,2]}')).toBe('path: a b, lines: [1,2]');
  expect(argumentLine('{}')).toBe('');
  expect(argumentLine('{"path": "a')).toBe('{"path": "a');
  expect(argumentLine(JSON.stringify({ text: 'x'.repeat(500) }))).toHaveLength(121);
});

test('JSON is indented, other results are left as they are', () => {
  expect(asCode('{"a":[1]}')).toEqual({ code: '{\n  "a": [\n    1\n  ]\n}', language: 'json' });
  expect(asCode('42')).toEqual({ code: '42', language: '' });
  expect(asCode('{ not JSON')).toEqual({ code: '{ not JSON', language: '' });
});

test('a description is shown only if no other tool has the same title', () => {
  const read = { title: 'File', description: 'Reads a file.' };
  const write = { title: 'File', description: 'Overwrites a file.' };
  expect(onlyDescription([read], 'File')).toBe('Reads a file.');
  expect(onlyDescription([read, write], 'File')).toBe('');
  expect(onlyDescription([read], 'Other')).toBe('');
});
