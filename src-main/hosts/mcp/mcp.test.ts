import { expect, test } from 'vitest';
import type { CompletionRun } from '../../completions/types.ts';
import type { McpCore } from './core.ts';
import { readPart } from './document-text.ts';
import { mcpOverHttp } from './http.ts';
import { MOST_TEXT, withinRoom } from './search.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function core(parts: object): McpCore {
  return { log: LOG, version: '1', ...parts } as unknown as McpCore;
}

/** A library with one document. */
function withText(text: string, info: object = {}): McpCore {
  const documents = {
    get: () => ({ path: 'a.txt', phase: 'ready', failure: null, ...info }),
    text: ({ offset, limit }: { offset: number; limit: number }) => ({
      text: text.slice(offset, offset + limit),
      length: text.length,
      offset,
      pages: [],
    }),
  };
  return core({ libraries: { documents } });
}

function asked(name: string, input: object, signal?: AbortSignal): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
    signal: signal ?? null,
  });
}

test('a question that nobody waits for any more is ended', async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  const complete = (_: object, { signal }: CompletionRun): Promise<never> => {
    begun.resolve(signal);
    return new Promise(() => undefined);
  };
  const libraries = { list: () => [{ id: '1', name: 'Notes' }] };
  const abort = new AbortController();
  const answer = mcpOverHttp(core({ completions: { complete }, libraries }));
  await answer(asked('ask', { question: 'Who?', library: 'Notes' }, abort.signal));
  const signal = await begun.promise;
  expect(signal.aborted).toBe(false);
  abort.abort();
  await expect.poll(() => signal.aborted).toBe(true);
});

test('a defect is told as one, without what is inside', async () => {
  const libraries = {
    list: () => {
      throw new Error('secret');
    },
  };
  const text = await (await mcpOverHttp(core({ libraries }))(asked('list_libraries', {}))).text();
  expect(text).toContain('this is a defect');
  expect(text).not.toContain('secret');
});

test('without sessions there is nothing but requests', async () => {
  const answer = await mcpOverHttp(core({}))(new Request('http://localhost/mcp'));
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

test('passages are told as long as there is room for them, and the first in any case', () => {
  const [short, long] = [{ text: 'x'.repeat(10) }, { text: 'x'.repeat(MOST_TEXT) }];
  expect(withinRoom([short, short])).toEqual([short, short]);
  expect(withinRoom([short, long, short])).toEqual([short]);
  expect(withinRoom([{ text: `${long.text}x` }, short])).toHaveLength(1);
  expect(withinRoom([])).toEqual([]);
});

test('a part of a text never ends within a character', () => {
  const text = 'ab🐟cd';
  expect(readPart(withText(text), '1', 0, 3).text).toBe('ab🐟');
  expect(readPart(withText(text), '1', 4, 3).text).toBe('cd');
  expect(readPart(withText(text), '1', 0, 2).text).toBe('ab');
});

test('a document without a text says why', () => {
  const failure = { code: 'DOCUMENT_ENCRYPTED', message: 'It wants a password.', advice: 'Remove it.' };
  expect(() => readPart(withText('', { phase: 'failed', failure }), '1', 0, 9)).toThrow(/password/);
  expect(() => readPart(withText('', { phase: 'waiting' }), '1', 0, 9)).toThrow(/not been read yet/);
  expect(readPart(withText(''), '1', 0, 9).text).toBe('');
});
