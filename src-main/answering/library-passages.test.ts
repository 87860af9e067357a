import { describe, expect, test } from 'vitest';
import type { Scope } from '../../src-shared/contract/search.ts';
import { FakeModel } from '../testing/fusion.ts';
import { ServiceFixture } from '../testing/library.ts';
import { libraryPassages } from './library-passages.ts';

const ALL: Scope = { libraryIds: [], documentIds: [] };
const LONG = 'The ship sails at dawn with twenty sailors.\n\n'.repeat(20);
const LEASE = 'The zebra barn is leased to the zoo for 4,250 euros per year.';

test('a passage chunked for another model has the tokens of the one in use', async () => {
  const fixture = new ServiceFixture({ 'lease.md': LEASE });
  const { id } = await fixture.library();
  const [document] = fixture.documents(id);
  const [chunk] = fixture.service.documents.chunks({ id: document!.id, offset: 0, limit: 1 }).items;
  const passages = libraryPassages(fixture.catalogue, fixture.models);
  expect(passages.chunk(Number(chunk!.id))?.standsIn).toBeUndefined();

  fixture.service.queue.pause();
  const other = new FakeModel({ fingerprint: 'ab'.repeat(32) });
  other.tokenize = (text: string) => Int32Array.from(text, (letter) => letter.charCodeAt(0));
  fixture.models.use(other, 16);
  const passage = passages.chunk(Number(chunk!.id))!;
  expect(passage.text).toContain('zebra barn');
  expect(String.fromCharCode(...passage.tokens)).toBe(`${passage.text}\n\n`);
  expect(passage.standsIn).toBe(true);
  await fixture.until(() => fixture.catalogue.documents.phaseCounts().get('chunking') === 1);
  expect(passages.unready(ALL, 'zebra barn')).toMatchObject({ reading: 0, uncut: 0 }); // it is found all the same
});

describe('documents that no question finds yet', () => {
  test('are named when their name has words of the question', async () => {
    const fixture = new ServiceFixture({ 'zebra-barn_lease.md': LEASE, 'ships.md': LONG });
    const { id } = fixture.service.create('Docs');
    fixture.service.queue.pause();
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    await fixture.service.rescan(id);
    const passages = libraryPassages(fixture.catalogue, fixture.models);
    const unready = passages.unready(ALL, 'How much does the zebra barn cost per year?');
    expect(unready).toMatchObject({ reading: 2, uncut: 0, paused: true });
    expect(unready.matching).toEqual([{ path: 'zebra-barn_lease.md', words: ['zebra', 'barn'] }]);
    expect(passages.unready(ALL, 'And the?').matching).toEqual([]);
  });

  test('count only where the question looks', async () => {
    const fixture = new ServiceFixture({ 'a.md': LEASE, 'b.md': LEASE });
    const { id } = fixture.service.create('Docs');
    fixture.service.queue.pause();
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    await fixture.service.rescan(id);
    const passages = libraryPassages(fixture.catalogue, fixture.models);
    const [first] = fixture.documents(id);
    expect(passages.unready({ libraryIds: [], documentIds: [first!.id] }, 'x').reading).toBe(1);
    expect(passages.unready({ libraryIds: ['77'], documentIds: [] }, 'x').reading).toBe(0);
  });
});

test('a scope lists its readable documents with exact tokens: chosen ones in their order, else by path', async () => {
  const long = Array.from(
    { length: 6 },
    (_, i) => `Paragraph number ${i} tells of ship ${i * 7} in the harbour.`,
  );
  const fixture = new ServiceFixture({ 'a.md': long.join('\n\n'), 'b.md': 'short', 'bad.pdf': 'no pdf' });
  const { id } = await fixture.library();
  const documents = new Map(fixture.documents(id).map((document) => [document.path, document]));
  const ids = (...paths: string[]): string[] => paths.map((path) => documents.get(path)!.id);
  const { catalogue, models } = fixture;
  const passages = libraryPassages(catalogue, models);

  const b = documents.get('b.md')!;
  const a = documents.get('a.md')!;
  const chosen = passages.readable({ libraryIds: [], documentIds: ids('b.md', 'a.md') });
  expect(chosen.documents.map(({ path }) => path)).toEqual(['b.md', 'a.md']);
  expect(chosen).toMatchObject({ count: 2, tokens: a.tokens + b.tokens, isComplete: true });
  const parts = passages.passagesOf(Number(a.id));
  expect(parts.map((each) => passages.chunk(each.id)!.ordinal)).toEqual(
    Array.from({ length: a.chunks }, (_, i) => i),
  );
  expect(parts.length).toBeGreaterThan(2);
  expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(a.tokens);
  expect(passages.tokensOf(Number(a.id))).toBe(a.tokens);

  const readable = (...documentIds: string[]) => passages.readable({ libraryIds: [], documentIds });
  expect(readable(...ids('bad.pdf', 'b.md'), '999')).toMatchObject({ count: 1, tokens: b.tokens });
  expect(readable(...ids('bad.pdf')).count).toBe(0);
  expect(readable().documents.map(({ path }) => path)).toEqual(['a.md', 'b.md']);
  expect(passages.readable({ libraryIds: ['77'], documentIds: [] }).count).toBe(0);
  expect(passages.tokensOf(999)).toBeUndefined();
});
