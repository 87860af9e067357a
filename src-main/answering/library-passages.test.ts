import { expect, test } from 'vitest';
import { activeChunkSets } from '../retrieval/active-sets.ts';
import { ServiceFixture } from '../testing/library.ts';
import { libraryPassages } from './library-passages.ts';

test('a document’s passages come in its order, as long as they fit; what cannot be read or was removed is passed over', async () => {
  const long = Array.from(
    { length: 6 },
    (_, i) => `Paragraph number ${i} tells of ship ${i * 7} in the harbour.`,
  );
  const fixture = new ServiceFixture({ 'a.md': long.join('\n\n'), 'b.md': 'short', 'bad.pdf': 'no pdf' });
  const { id } = await fixture.library();
  const documents = new Map(fixture.documents(id).map((document) => [document.path, document]));
  const ids = (...paths: string[]): string[] => paths.map((path) => documents.get(path)!.id);
  const { catalogue, models } = fixture;
  const passages = libraryPassages(catalogue, activeChunkSets(catalogue.chunkTable, models));

  const whole = passages.whole(ids('b.md', 'a.md'), 1000)!;
  const found = whole.map((chunk) => passages.chunk(chunk)!);
  expect(found.map(({ path, ordinal }) => [path, ordinal])).toEqual([
    ['b.md', 0],
    ...Array.from({ length: documents.get('a.md')!.chunks }, (_, i) => ['a.md', i]),
  ]);
  expect(found.length).toBeGreaterThan(2);
  expect(passages.whole([...ids('bad.pdf', 'b.md'), '999'], 1000)).toEqual(whole.slice(0, 1));
  expect(passages.whole(ids('bad.pdf'), 1000)).toBeUndefined();
  expect(passages.whole(ids('a.md'), documents.get('a.md')!.tokens - 1)).toBeUndefined();
  expect(passages.whole(ids('a.md'), documents.get('a.md')!.tokens)).toHaveLength(whole.length - 1);

  fixture.catalogue.documents.retry([Number(documents.get('b.md')!.id)]);
  expect(passages.unready([], ids('b.md', 'a.md'))).toMatchObject({ reading: 1, uncut: 0 });
  expect(passages.unready([], ids('a.md'))).toMatchObject({ reading: 0, uncut: 0 });
});
