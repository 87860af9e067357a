import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Parser } from '../../src-main/library/parser/parser-process.ts';
import { fuzzDocuments, keptFindings } from './documents.ts';

test('mutated documents of every format end in a document or a documented error', async () => {
  const { findings, ends } = await fuzzDocuments(200, 1);
  expect(findings.map(({ name, why }) => `${name}: ${why}`)).toEqual([]);
  // Mutations that all fail at the first byte would test nothing.
  expect(ends['read']).toBeGreaterThan(50);
  expect(ends['DOCUMENT_UNREADABLE']).toBeGreaterThan(10);
});

test('documents that once broke a rule do not any more', async () => {
  expect(await keptFindings()).toEqual([]);
});

test.each([
  ['a crash', new KvasirError('DOCUMENT_UNREADABLE', 'Kvasir’s document reader crashed (SIGSEGV).')],
  ['a hang', new KvasirError('DOCUMENT_TIMEOUT', 'It could not be read within 20 seconds.')],
  ['exhausted memory', new KvasirError('DOCUMENT_MEMORY', 'It needs more than 512 MB.')],
  ['a message that is none', new KvasirError('DOCUMENT_UNREADABLE', 'It cannot be read: undefined.')],
  ['an error without a code', new TypeError('x is not a function')],
])('%s is a finding, and the same seed finds it again', async (_, error) => {
  const failing = { parse: () => Promise.reject(error), close: () => undefined } as unknown as Parser;
  const first = await fuzzDocuments(3, 7, () => failing);
  const again = await fuzzDocuments(3, 7, () => failing);
  expect(first.findings).toHaveLength(3);
  const names = (run: typeof first): string[] => run.findings.map(({ name }) => name).sort();
  expect(names(again)).toEqual(names(first));
});
