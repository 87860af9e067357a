import { expect, test } from 'vitest';
import type { DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { NO_OPTIONS } from '../chat-state.ts';
import { scopeState, withDocuments, withLibrary, without } from './scope.ts';

const document = (title: string, phase: DocumentInfo['phase']) => ({ title, phase }) as DocumentInfo;
const TWO = withDocuments(NO_OPTIONS, ['1', '2']).scope;

test('documents and libraries take each other’s place, and none is there twice', () => {
  const documents = withDocuments(withDocuments({ ...NO_OPTIONS, topK: 3 }, ['1', '2']), ['2', '3']);
  expect(documents).toEqual({ topK: 3, scope: { documentIds: ['1', '2', '3'], libraryIds: [] } });
  const libraries = withLibrary(withLibrary(documents, '7'), '7');
  expect(libraries.scope).toEqual({ documentIds: [], libraryIds: ['7'] });
  expect(withDocuments(libraries, ['1']).scope).toEqual({ documentIds: ['1'], libraryIds: [] });
  expect(without(documents, '2').scope.documentIds).toEqual(['1', '3']);
  expect(without(libraries, '7').scope.libraryIds).toEqual([]);
});

test('a question waits for what is on its way and what is being read, not for vectors and caches', () => {
  const coming = { id: 1, name: 'c.pdf', failure: null };
  const refused = { id: 2, name: 'd.exe', failure: { message: 'No.', advice: '' } };
  const documents = [document('a', 'reading'), document('b', 'precomputing')];
  expect(scopeState(TWO, documents, [coming, refused])).toEqual({ reading: ['c.pdf', 'a'], nothing: false });
  expect(scopeState(TWO, [document('a', 'indexing')], [])).toEqual({ reading: [], nothing: false });
  expect(scopeState(TWO, [document('a', 'chunking')], [])).toEqual({ reading: ['a'], nothing: false });
});

test('where no document can be read, there is nothing to ask about', () => {
  expect(scopeState(TWO, [document('a', 'failed')], []).nothing).toBe(true);
  expect(scopeState(TWO, [], []).nothing).toBe(true);
  expect(scopeState(TWO, undefined, []).nothing).toBe(false);
  expect(scopeState(TWO, [document('a', 'failed'), document('b', 'ready')], []).nothing).toBe(false);
  expect(scopeState(NO_OPTIONS.scope, undefined, []).nothing).toBe(false);
});
