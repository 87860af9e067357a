import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LibraryProgress, SyncReport } from '../../src-shared/library.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { FakeModel } from '../testing/fusion.ts';
import { folderOf, LibraryFakeStore, ServiceFixture } from '../testing/library.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { MIGRATIONS } from '../catalogue/schema.ts';
import { openDatabase } from '../platform/database.ts';

type Folder = ReturnType<typeof folderOf>;

/** A folder of files, a catalogue, a fake model and store. */
class Fixture {
  readonly dir = mkdtempSync(join(tmpdir(), 'kvasir-library-'));
  readonly root = join(this.dir, 'docs');
  readonly catalogue = Catalogue.open(join(this.dir, 'catalogue.sqlite'));
  readonly store = new LibraryFakeStore();
  readonly model = new FakeModel();

  constructor(files: Record<string, string | Buffer>) {
    onTestFinished(() => {
      this.catalogue.close();
      rmSync(this.dir, { recursive: true, force: true });
    });
    mkdirSync(this.root);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** Files look an hour old, so that their time stamps are trusted. */
  write(path: string, content: string | Buffer, ageSeconds = 3600): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const then = Date.now() / 1000 - ageSeconds;
    utimesSync(file, then, then);
  }

  open({ root = this.root, chunkTokens = 24, model = this.model } = {}): Folder {
    const { catalogue, store } = this;
    return folderOf(root, { catalogue, store, model, chunkTokens });
  }
}

/** Reads and chunks, and leaves the KV for later. */
const sync = async (library: Folder): Promise<SyncReport> => (await library.read({ precompute: false })).sync;

const texts = (library: Folder): string[] =>
  [...library.chunks()].map((chunk) => `${chunk.path}: ${chunk.text}`);

test('reads the documents of all subfolders in a fixed order, and nothing hidden or else', async () => {
  const fixture = new Fixture({
    'b.txt': 'bee',
    'a/z.md': '# Zed\n\nzed',
    'A.MD': 'upper',
    'x.mp3': 'no',
    'node_modules/a/readme.md': 'no',
    '.h.md': 'no',
    '.git/x.md': 'no',
  });
  const library = fixture.open();
  expect(await sync(library)).toEqual({
    documents: 3,
    updated: 3,
    removed: 0,
    chunks: 3,
    failures: [],
    skipped: ['x.mp3'],
  });
  expect(texts(library)).toEqual(['A.MD: upper', 'a/z.md: # Zed\n\nzed', 'b.txt: bee']);
  expect([...library.chunks()].map((chunk) => chunk.title)).toEqual(['A', 'Zed', 'b']);
});

test.each([
  ['a.md', 'text\n\n# *Real* title #\n', 'Real title'],
  ['a.md', 'no heading here\nbut lines', 'a'],
  ['a.txt', '= Elias Falk\n\nElias writes.', 'Elias Falk'],
  ['a.txt', 'The Kitchen\n===========\nIt opens.', 'The Kitchen'],
  ['notes.old.txt', 'A long first line goes on\nin a second one.\n\nMore.', 'notes.old'],
  ['a.txt', `${'x'.repeat(81)}\n\nMore.`, 'a'],
])('the title of %s with %j is %j', async (path, text, title) => {
  const library = new Fixture({ [path]: text }).open();
  await sync(library);
  expect([...library.chunks()][0]?.documentTitle).toBe(title);
});

test('a link to a parent folder ends, a dangling link is reported', async () => {
  const fixture = new Fixture({ 'sub/a.md': 'text' });
  symlinkSync(fixture.root, join(fixture.root, 'sub', 'loop'));
  symlinkSync('/nowhere', join(fixture.root, 'gone.md'));
  const report = await sync(fixture.open());
  expect(report.documents).toBe(1);
  expect(report.failures).toEqual([
    { path: 'gone.md', code: 'DOCUMENT_UNREADABLE', message: 'It cannot be read (ENOENT): gone.md.' },
  ]);
});

test('unchanged files are not read again; edited ones are chunked again; removed ones disappear', async () => {
  const fixture = new Fixture({ 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' });
  const library = fixture.open();
  await sync(library);
  fixture.write('b.md', 'two and a half', 60);
  rmSync(join(fixture.root, 'c.md'));
  expect(await sync(library)).toMatchObject({ documents: 2, updated: 1, removed: 1, chunks: 2 });
  expect(texts(library)).toEqual(['a.md: one', 'b.md: two and a half']);
  expect(await sync(library)).toMatchObject({ updated: 0, removed: 0 });
});

test('a file edited within its time stamp is noticed when it was read right after it was written', async () => {
  const fixture = new Fixture({});
  fixture.write('a.md', 'one', 0);
  const library = fixture.open();
  await sync(library);
  const { atime, mtime } = statSync(join(fixture.root, 'a.md'));
  writeFileSync(join(fixture.root, 'a.md'), 'two');
  utimesSync(join(fixture.root, 'a.md'), atime, mtime);
  expect(await sync(library)).toMatchObject({ updated: 1 });
  expect(texts(library)).toEqual(['a.md: two']);
});

test('a file dated ahead is trusted like any other, and not read at every scan', async () => {
  const fixture = new Fixture({});
  const years = 2 * 365 * 24 * 3600;
  fixture.write('a.md', 'one', -years);
  const library = fixture.open();
  await sync(library);
  const { atime, mtime } = statSync(join(fixture.root, 'a.md'));
  writeFileSync(join(fixture.root, 'a.md'), 'two');
  utimesSync(join(fixture.root, 'a.md'), atime, mtime);
  expect(await sync(library)).toMatchObject({ updated: 0 });
  expect(texts(library)).toEqual(['a.md: one']);
});

test('a touched file with the same bytes keeps its chunks', async () => {
  const fixture = new Fixture({ 'a.md': 'one' });
  const library = fixture.open();
  await sync(library);
  const before = [...library.chunks()].map((chunk) => chunk.id);
  fixture.write('a.md', 'one', 10);
  expect(await sync(library)).toMatchObject({ updated: 0 });
  expect([...library.chunks()].map((chunk) => chunk.id)).toEqual(before);
});

test('each model and chunk size has its own chunks, and an edit reaches all of them', async () => {
  const fixture = new Fixture({ 'a.md': 'One two three. '.repeat(6) });
  const small = fixture.open({ chunkTokens: 16 });
  const large = fixture.open({ chunkTokens: 64 });
  const other = fixture.open({
    chunkTokens: 64,
    model: new FakeModel({ fingerprint: 'e'.repeat(64) }),
  });
  for (const library of [small, large, other]) await sync(library);
  expect([texts(small).length, texts(large).length, texts(other).length]).toEqual([3, 1, 1]);
  fixture.write('a.md', 'new', 60);
  await sync(large);
  expect(texts(small)).toEqual([]); // chunked again when that set is next used, never served stale
  await sync(small);
  expect(texts(small)).toEqual(['a.md: new']);
});

test('a document that cannot be used is named, and the others continue', async () => {
  const fixture = new Fixture({
    'a.md': 'fine',
    'big.txt': 'x'.repeat(1001),
    'mixed.txt': Buffer.from([0x61, 0, 1, 2, 0x62]),
  });
  const library = fixture.open();
  const { documents, failures } = await sync(library);
  expect(documents).toBe(1);
  expect(failures.map(({ path, code }) => [path, code])).toEqual([
    ['big.txt', 'DOCUMENT_TOO_LARGE'],
    ['mixed.txt', 'DOCUMENT_UNSUPPORTED'],
  ]);
  expect(failures[1]?.message).toBe('mixed.txt is not a text file.');
  fixture.write('mixed.txt', 'mended');
  expect((await sync(library)).failures.map(({ path }) => path)).toEqual(['big.txt']);
});

test('a document that turns bad loses its chunks', async () => {
  const fixture = new Fixture({ 'a.md': 'fine', 'b.md': 'fine' });
  const library = fixture.open();
  await sync(library);
  fixture.write('b.md', Buffer.from([0xff, 0]), 60);
  expect(await sync(library)).toMatchObject({ documents: 1, chunks: 1 });
});

test.each([
  ['LIBRARY_EMPTY', {}],
  ['LIBRARY_EMPTY', { 'b.mp3': 'x' }],
  ['DOCUMENT_NO_TEXT', { 'a.md': ' \n', 'b.mp3': 'x' }],
  ['DOCUMENT_UNREADABLE', { 'a.py': '', 'b.pdf': 'x' }],
  ['DOCUMENT_TOO_LARGE', { 'a.txt': 'x'.repeat(2000) }],
  ['DOCUMENT_UNSUPPORTED', { 'a.txt': Buffer.from([1, 0]), 'b.txt': Buffer.from([2, 0]) }],
])('%s when nothing can be read', async (code, files: Record<string, string | Buffer>) => {
  const library = new Fixture(files).open();
  await expect(sync(library)).rejects.toMatchObject({ code });
});

test('LIBRARY_NOT_FOUND for no folder, and for a file', async () => {
  const fixture = new Fixture({ 'a.md': 'x' });
  for (const root of [join(fixture.dir, 'none'), join(fixture.root, 'a.md')]) {
    await expect(fixture.open({ root }).read()).rejects.toMatchObject({ code: 'LIBRARY_NOT_FOUND' });
  }
});

test('precompute stores what is missing once, and reports progress', async () => {
  const fixture = new Fixture({ 'a.md': 'one', 'b.md': 'two', 'same.md': 'one' });
  const library = fixture.open();
  await sync(library);
  const seen: LibraryProgress[] = [];
  const { precompute } = await library.read({ onProgress: (progress) => seen.push(progress) });
  expect(precompute).toMatchObject({ chunks: 2, computed: 2, stored: 0, overBudgetBytes: 0 });
  const computing = seen.filter(({ phase }) => phase === 'precomputing');
  expect(computing.map(({ done, total }) => `${done}/${total}`)).toEqual(['0/2', '1/2', '2/2']);
  expect((await library.read()).precompute).toMatchObject({ chunks: 2, computed: 0, stored: 2, tokens: 0 });
  expect(fixture.model.encoded).toBe(2);
});

test('an aborted precompute keeps what it has done and continues from there', async () => {
  const fixture = new Fixture(
    Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${i}.md`, `document ${i}`])),
  );
  const library = fixture.open();
  await sync(library);
  const abort = new AbortController();
  const stopAtFour = ({ phase, done }: LibraryProgress): void => {
    if (phase === 'precomputing' && done === 4) abort.abort();
  };
  await expect(library.read({ signal: abort.signal, onProgress: stopAtFour })).rejects.toMatchObject({
    code: 'ABORTED',
  });
  expect((await library.read()).precompute).toMatchObject({ computed: 6, stored: 4 });
});

test('precompute stops at the disk budget instead of evicting what it has just stored', async () => {
  const fixture = new Fixture({ 'a.md': 'one two', 'b.md': 'six ten', 'c.md': 'red blue' });
  const library = fixture.open();
  await sync(library);
  const [first] = library.chunks();
  fixture.store.diskBudgetBytes = (first?.tokens.length ?? 0) * fixture.model.bytesPerToken() * 2;
  expect((await library.read()).precompute).toMatchObject({
    computed: 2,
    overBudgetBytes: fixture.store.diskBudgetBytes / 2,
  });
});

test('a full disk ends precompute with its own error', async () => {
  const fixture = new Fixture({ 'a.md': 'one' });
  const library = fixture.open();
  await sync(library);
  fixture.store.putFails = new KvasirError('DISK_FULL', 'full');
  await expect(library.read()).rejects.toMatchObject({ code: 'DISK_FULL' });
});

test('what was evicted is computed again', async () => {
  const fixture = new Fixture({ 'a.md': 'one', 'b.md': 'two' });
  const library = fixture.open();
  await library.read();
  const [key = ''] = fixture.store.chunks.keys();
  await fixture.store.evict({ keys: [key] });
  expect(await library.read()).toMatchObject({
    sync: { updated: 0 },
    precompute: { computed: 1, stored: 1 },
  });
});

test('a folder that was marked as gone is read when it is there', async () => {
  const fixture = new Fixture({ 'a.md': 'one' });
  const { libraries } = fixture.catalogue;
  const root = { kind: 'folder' as const, path: realpathSync(fixture.root), watched: false };
  libraries.setFailure(libraries.addRoot(libraries.create('docs'), root), {
    code: 'LIBRARY_NOT_FOUND',
    message: 'gone',
    advice: '',
  });
  expect(await sync(fixture.open())).toMatchObject({ updated: 1, chunks: 1 });
});

describe('beside what a window does', () => {
  test('it works on its own library only, though the queue is paused', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one', 'b.md': 'two' });
    mkdirSync(join(fixture.dir, 'others'));
    writeFileSync(join(fixture.dir, 'others', 'c.md'), 'three');
    const { id } = fixture.service.create('Others');
    await fixture.service.addPaths({ id, paths: [join(fixture.dir, 'others')], watch: false });
    await fixture.service.rescan(id);
    fixture.service.queue.pause();
    const target = { ...fixture.models.active!, dtype: 'f16' as const };
    const { precompute } = await fixture.service.read(fixture.root, target, { precompute: true });
    expect(precompute).toMatchObject({ computed: 2 });
    expect(fixture.info(id)).toMatchObject({ pending: 1, chunks: 0 });
    expect(fixture.service.queue.status().paused).toBe(true);
  });

  test.each([
    ['done', false],
    ['killed while it puts documents back', true],
  ])(
    '%s with another model, it leaves the window nothing to compute again, and nothing out',
    async (_, killed) => {
      const fixture = new ServiceFixture({ 'a.md': 'one', 'b.md': 'two' });
      const { id } = await fixture.library();
      await fixture.service.close();
      fixture.write('b.md', 'two and a half', 60);
      const { catalogue, store } = fixture;
      const model = new FakeModel({ fingerprint: 'e'.repeat(64) });
      const library = folderOf(fixture.root, { catalogue, store, model, chunkTokens: 64 });
      expect(await library.read()).toMatchObject({
        sync: { updated: 1, chunks: 2 },
        precompute: { computed: 2 },
      });
      if (killed) catalogue.setState(`target:${id}`, 'null');
      await fixture.restart();
      await fixture.service.rescan(id);
      await fixture.until(() => fixture.info(id).cachedChunks === 2);
      await fixture.idle();
      expect(fixture.info(id)).toMatchObject({ documents: 2, pending: 0, failed: 0, chunks: 2 });
      expect(fixture.model.encoded).toBe(3); // one, two, and two and a half
      expect(model.encoded).toBe(2);
    },
  );
});

test('a catalogue of a newer version is refused and left as it is', () => {
  const fixture = new Fixture({});
  fixture.catalogue.close();
  const path = join(fixture.dir, 'catalogue.sqlite');
  const database = openDatabase(path, MIGRATIONS);
  database.pragma('user_version = 99');
  database.close();
  const before = readFileSync(path);
  expect(() => Catalogue.open(path)).toThrow(expect.objectContaining({ code: 'STORE_VERSION' }));
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('a damaged catalogue is set aside; a folder that cannot be written is a typed error', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-library-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'c.sqlite'), 'not a database, whatever its name says '.repeat(100));
  let kept = '';
  const catalogue = Catalogue.open(join(dir, 'c.sqlite'), ({ keptAs }) => (kept = keptAs));
  expect(catalogue.libraries.list()).toEqual([]);
  catalogue.close();
  expect(readFileSync(kept, 'utf8')).toContain('not a database');
  expect(() => Catalogue.open(join(dir, 'c.sqlite', 'below'))).toThrow(
    expect.objectContaining({ code: 'STORE_READ_ONLY' }),
  );
});
