import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { DocumentInfo } from '../../src-shared/contract/libraries.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { MIGRATIONS } from '../catalogue/schema.ts';
import { WordIndex } from '../catalogue/word-index.ts';
import { openDatabase } from '../platform/database.ts';
import { FakeModel } from '../testing/fusion.ts';
import { ServiceFixture } from '../testing/library.ts';
import { pdfFile } from '../testing/pdf-file.ts';

const sentence = (i: number): string =>
  `Sentence ${'abcdefghij'[i % 10] ?? ''} number ${i} tells of ship ${i * 7}.`;
const paragraphs = (n: number, from = 0): string =>
  Array.from({ length: n }, (_, i) => `${sentence(from + i * 2)} ${sentence(from + i * 2 + 1)}`).join('\n\n');

describe('from a folder to the cache', () => {
  test('all that is in it is read, cut, and computed', async () => {
    const fixture = new ServiceFixture({
      'a.md': '# A\n\none',
      'sub/b.txt': 'two',
      'sub/c.html': '<p>three',
    });
    const info = await fixture.library();
    expect(info).toMatchObject({
      name: 'Docs',
      documents: 3,
      failed: 0,
      pending: 0,
      chunks: 3,
      cachedChunks: 3,
    });
    expect(info.cacheBytes).toBe(info.tokens * fixture.model.bytesPerToken());
    expect(fixture.documents(info.id).map(({ path, title, phase }) => [path, title, phase])).toEqual([
      ['a.md', 'A', 'ready'],
      ['sub/b.txt', 'b', 'ready'],
      ['sub/c.html', 'c', 'ready'],
    ]);
    expect(fixture.store.chunks.size).toBe(3);
  });

  test('a file that cannot be read says why, the others go on, and a retry reads it again', async () => {
    const fixture = new ServiceFixture({ 'a.pdf': 'no pdf', 'b.txt': 'fine' });
    const { id } = await fixture.library();
    const [bad] = fixture.documents(id);
    expect(bad).toMatchObject({ phase: 'failed', failure: { code: 'DOCUMENT_UNREADABLE' } });
    expect(bad!.failure!.message).toContain('a.pdf');
    expect(fixture.service.queue.status()).toMatchObject({ failed: 1, waiting: 0 });
    fixture.write(
      'a.pdf',
      readFileSync(join(import.meta.dirname, '../../resources/sample-library.questions.json')),
    );
    fixture.service.retryFailed(id);
    await fixture.idle();
    expect(fixture.documents(id)[0]).toMatchObject({ phase: 'failed' });
    fixture.write('a.pdf', pdfFile(['BT /F 12 Tf 72 700 Td (Legible now) Tj ET']));
    fixture.service.documents.retry([bad!.id]);
    await fixture.idle();
    expect(fixture.documents(id)[0]).toMatchObject({ phase: 'ready', failure: null });
    rmSync(join(fixture.root, 'a.pdf'));
    await fixture.service.rescan(id);
    expect(fixture.documents(id)).toHaveLength(1);
  });

  test('unchanged files are never read again', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one', 'b.md': 'two' });
    const { id } = await fixture.library();
    await fixture.service.rescan(id);
    expect(fixture.service.queue.status()).toMatchObject({ waiting: 0, active: 0 });
    await fixture.restart();
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(fixture.model.encoded).toBe(2);
  });

  test('one sentence edited in a document of 100 chunks: at most 3 % of its tokens are computed again', async () => {
    const text = paragraphs(400);
    const fixture = new ServiceFixture({ 'a.md': text });
    fixture.models.use(fixture.model, 128);
    const { id, chunks } = await fixture.library();
    expect(chunks).toBeGreaterThan(90);
    const before = new Set(fixture.store.chunks.keys());
    const edited = text.replace(
      'Sentence a number 400 tells of ship',
      'Sentence a number 400 no longer tells of any ship',
    );
    expect(edited).not.toBe(text);
    const seen = atEncoding(fixture, id);
    fixture.write('a.md', edited, 60);
    await fixture.service.rescan(id);
    await fixture.idle();
    const added = [...fixture.store.chunks].filter(([key]) => !before.has(key));
    const computed = added.reduce((sum, [, { tokens }]) => sum + tokens.length, 0);
    expect(computed).toBeGreaterThan(0);
    expect(computed).toBeLessThanOrEqual(0.03 * fixture.info(id).tokens);
    expect(fixture.info(id)).toMatchObject({ pending: 0 });
    expect(Math.abs(fixture.info(id).chunks - chunks)).toBeLessThanOrEqual(1);
    // While it is computed the document shows the stored state, and the cached KV of the old text is available for matching.
    const [during] = seen;
    expect(during!.document).toMatchObject({ phase: 'precomputing', chunks: fixture.info(id).chunks });
    expect(during!.document.cachedChunks).toBe(during!.document.chunks - added.length);
    expect([...before].filter((key) => !during!.stored.has(key))).toEqual([]);
  });

  test.each([
    ['a paragraph at the beginning', (text: string) => `A new beginning of it all.\n\n${text}`],
    ['a paragraph at the end', (text: string) => `${text}\n\nA new end of it all.`],
    ['the first paragraph gone', (text: string) => text.slice(text.indexOf('\n\n') + 2)],
    [
      'a page moved in',
      (text: string) => `${text.slice(0, 5000)}\n\n${paragraphs(20, 5000)}\n\n${text.slice(5000)}`,
    ],
  ])('%s: most chunks stay', async (_, edit) => {
    const text = paragraphs(200);
    const titled = (body: string): string => `# Ships\n\n${body}`; // every chunk is encoded after it
    const fixture = new ServiceFixture({ 'a.md': titled(text) });
    fixture.models.use(fixture.model, 128);
    const { id, chunks } = await fixture.library();
    const before = new Set(fixture.store.chunks.keys());
    fixture.write('a.md', titled(edit(text)), 60);
    await fixture.service.rescan(id);
    await fixture.idle();
    const added = [...fixture.store.chunks.keys()].filter((key) => !before.has(key));
    expect(added.length).toBeLessThanOrEqual(2 + Math.max(0, fixture.info(id).chunks - chunks));
    expect(added.length).toBeLessThan(12);
  });

  test('chunks are encoded after the headings above them, and again when these change', async () => {
    const section = (name: string): string => `## ${name}\n\n${paragraphs(8)}`;
    const text = `# Ships\n\n${section('Old')}\n\n${section('New')}`;
    const fixture = new ServiceFixture({ 'a.md': text });
    fixture.models.use(fixture.model, 128);
    const { id } = await fixture.library();
    const { chunkTable } = fixture.catalogue;
    const set = chunkTable.findSet(Number(id), fixture.model.info.fingerprint, 128) ?? 0;
    const leads = (): Set<string> =>
      new Set([...chunkTable.inReadingOrder(set)].map(({ lead }) => fixture.model.detokenize(lead)));
    const all = ['', '# Ships\n\n', '# Ships\n## Old\n\n', '# Ships\n## New\n\n'];
    expect(leads()).toEqual(new Set(all));
    expect(new Set(fixture.model.leads)).toEqual(leads());
    const encoded = fixture.model.encoded;
    fixture.write('a.md', text.replace('## Old', '## Very old'), 60);
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(leads()).toEqual(new Set(all.map((lead) => lead.replace('Old', 'Very old'))));
    expect(fixture.model.encoded).toBeLessThan(2 * encoded);
    expect(fixture.info(id)).toMatchObject({ pending: 0 });
  });

  test('large chunks are encoded after the text before them as well, several in one pass', async () => {
    const fixture = new ServiceFixture({ 'a.md': `# Ships\n\n${paragraphs(200)}` });
    fixture.models.use(fixture.model, 256);
    const { id, cachedChunks } = await fixture.library();
    const { chunkTable } = fixture.catalogue;
    const set = chunkTable.findSet(Number(id), fixture.model.info.fingerprint, 256) ?? 0;
    const chunks = [...chunkTable.inReadingOrder(set)];
    const said = (tokens: Int32Array) => fixture.model.detokenize(tokens);
    for (const [i, { lead }] of chunks.entries()) {
      const before = said(Int32Array.from(chunks.slice(0, i).flatMap(({ tokens }) => [...tokens])));
      const text = before.endsWith(said(lead)) ? said(lead) : said(lead).replace('# Ships\n\n', '');
      expect([before.endsWith(text), text.length > 200]).toEqual([true, i > 0]);
    }
    expect([fixture.model.encoded, cachedChunks]).toEqual([chunks.length, chunks.length]);
    const { passes } = fixture.model;
    expect(passes).toBeGreaterThan(2);
    expect(passes).toBeLessThan(chunks.length / 2);
    // Chunks that are still stored are passed over in the same pass.
    await fixture.store.evict({ keys: [...fixture.store.chunks.keys()].filter((_, i) => i % 2 === 0) });
    await fixture.service.recompute();
    await fixture.idle();
    expect(fixture.store.chunks.size).toBe(chunks.length);
    expect(fixture.model.passes - passes).toBeLessThanOrEqual(passes);
  });

  test('a renamed file is the same document', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one text', 'b.md': 'two texts' });
    const { id } = await fixture.library();
    const [before] = fixture.documents(id);
    renameSync(join(fixture.root, 'a.md'), join(fixture.root, 'z.md'));
    await fixture.service.rescan(id);
    await fixture.idle();
    const after = fixture.documents(id);
    expect(after.map(({ path }) => path)).toEqual(['b.md', 'z.md']);
    expect(after[1]!.id).toBe(before!.id);
    expect(fixture.model.encoded).toBe(2);
  });

  test('another file of the same size and time is read, whatever it looks like', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one text', 'b.md': 'two texts' });
    const { id } = await fixture.library();
    const { mtime } = statSync(join(fixture.root, 'a.md'));
    rmSync(join(fixture.root, 'a.md'));
    fixture.write('z.md', 'new text');
    utimesSync(join(fixture.root, 'z.md'), mtime, mtime);
    await fixture.service.rescan(id);
    await fixture.idle();
    const document = fixture.documents(id, 'z.md')[0]!;
    expect(fixture.service.documents.text({ id: document.id, offset: 0, limit: 100 }).text).toBe('new text');
  });
});

describe('watching', () => {
  test('new, changed and deleted files are noticed automatically', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one' });
    const { id } = await fixture.library();
    fixture.write('new/b.md', 'two', 0);
    await fixture.until(() => fixture.info(id).cachedChunks === 2);
    fixture.write('a.md', 'one and a half', 0);
    await fixture.until(
      () =>
        fixture.service.documents.text({ id: fixture.documents(id, 'a.md')[0]!.id, offset: 0, limit: 100 })
          .text === 'one and a half',
    );
    rmSync(join(fixture.root, 'a.md'));
    await fixture.until(() => fixture.documents(id).length === 1);
  });

  test('a single file is followed too, until its document is deleted', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one', 'b.md': 'not in the library' });
    const { id } = fixture.service.create('Docs');
    fixture.service.start();
    await fixture.service.addPaths({ id, paths: [join(fixture.root, 'a.md')], watch: true });
    await fixture.until(() => fixture.info(id).cachedChunks === 1);
    fixture.write('a.md', 'another text', 0);
    await fixture.until(() => fixture.store.chunks.size === 2 && fixture.info(id).pending === 0);
    const [document, ...more] = fixture.documents(id);
    expect(more).toEqual([]);
    await fixture.service.documents.delete([document!.id]);
    expect(fixture.info(id)).toMatchObject({ documents: 0, roots: [] });
  });

  test('a folder that is gone keeps its documents and says so; they go on when it is back', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one' });
    const { id } = await fixture.library();
    renameSync(fixture.root, `${fixture.root}-away`);
    await fixture.service.rescan(id);
    expect(fixture.info(id)).toMatchObject({ documents: 1, cachedChunks: 1 });
    expect(fixture.info(id).roots[0]!.failure).toMatchObject({ code: 'LIBRARY_NOT_FOUND' });
    writeFileSync(join(`${fixture.root}-away`, 'b.md'), 'two');
    renameSync(`${fixture.root}-away`, fixture.root);
    await fixture.until(
      () => fixture.info(id).roots[0]!.failure === null && fixture.info(id).cachedChunks === 2,
    );
  });

  test('a folder that is suddenly empty, as where a drive is not mounted, keeps its documents too', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one', 'sub/b.md': 'two' });
    const { id } = await fixture.library();
    renameSync(fixture.root, `${fixture.root}-drive`);
    mkdirSync(fixture.root);
    await fixture.service.rescan(id);
    await fixture.restart();
    await fixture.service.rescan(id);
    expect(fixture.info(id)).toMatchObject({ documents: 2, cachedChunks: 2, pending: 0 });
    expect(fixture.info(id).roots[0]!.failure).toMatchObject({ code: 'LIBRARY_EMPTY' });
    rmSync(fixture.root, { recursive: true });
    renameSync(`${fixture.root}-drive`, fixture.root);
    rmSync(join(fixture.root, 'a.md'));
    await fixture.until(() => fixture.info(id).roots[0]!.failure === null);
    expect(fixture.documents(id).map(({ path }) => path)).toEqual(['sub/b.md']);
    expect(fixture.model.encoded).toBe(2);
  });

  test('a single file that is gone keeps its document until it is removed', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one' });
    const { id } = fixture.service.create('Docs');
    fixture.service.start();
    await fixture.service.addPaths({ id, paths: [join(fixture.root, 'a.md')], watch: true });
    await fixture.until(() => fixture.info(id).cachedChunks === 1);
    rmSync(join(fixture.root, 'a.md'));
    await fixture.service.rescan(id);
    const { documents, roots } = fixture.info(id);
    expect(documents).toBe(1);
    expect(roots[0]!.failure).toMatchObject({ code: 'LIBRARY_EMPTY' });
    await fixture.service.removeRoot(id, roots[0]!.id);
    expect(fixture.info(id)).toMatchObject({ documents: 0, roots: [] });
  });
});

describe('the queue', () => {
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`${i}.md`, paragraphs(3, i * 100)]));

  test('ended at any point, it continues where it was', async () => {
    const fixture = new ServiceFixture(many);
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    fixture.service.start();
    for (const stage of [1, 4, 8]) {
      await fixture.until(
        () => fixture.documents(id).filter(({ phase }) => phase !== 'waiting').length >= stage,
      );
      await fixture.restart();
    }
    await fixture.service.rescan(id);
    await fixture.idle();
    const info = fixture.info(id);
    expect(info).toMatchObject({ documents: 12, pending: 0, failed: 0 });
    expect(info.cachedChunks).toBe(info.chunks);
    expect(fixture.model.encoded).toBeLessThanOrEqual(info.chunks + 3); // one may be lost at each end
  });

  test('paused it does nothing, also after a restart, until it is resumed', async () => {
    const fixture = new ServiceFixture(many);
    const { id } = fixture.service.create('Docs');
    fixture.service.queue.pause();
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    fixture.service.start();
    await fixture.service.rescan(id);
    await fixture.restart();
    await fixture.service.rescan(id);
    expect(fixture.service.queue.status()).toMatchObject({ paused: true, waiting: 12, active: 0 });
    expect(fixture.model.encoded).toBe(0);
    fixture.service.queue.resume();
    await fixture.idle();
    expect(fixture.service.queue.status()).toMatchObject({ paused: false, done: 12, total: 12, waiting: 0 });
  });

  test('a full disk blocks it with the reason, and it resumes automatically', async () => {
    const fixture = new ServiceFixture(many);
    fixture.store.putFails = new KvasirError('DISK_FULL', 'The disk is full.', 'Free some space.');
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    fixture.service.start();
    await fixture.until(() => fixture.service.queue.status().blocked !== null);
    expect(fixture.service.queue.status()).toMatchObject({ blocked: { code: 'DISK_FULL' }, failed: 0 });
    fixture.store.putFails = undefined;
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(fixture.service.queue.status()).toMatchObject({ blocked: null, failed: 0 });
    expect(fixture.info(id)).toMatchObject({ pending: 0, failed: 0 });
  });

  test('without a model documents are read, and cut as soon as there is one', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one' });
    fixture.models.failure = new KvasirError('MODEL_NOT_FOUND', 'No model.');
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    fixture.service.start();
    await fixture.until(() => fixture.service.queue.status().blocked?.code === 'MODEL_NOT_FOUND');
    expect(fixture.documents(id)[0]).toMatchObject({ phase: 'chunking' });
    fixture.models.failure = undefined;
    fixture.models.use(fixture.model, 24);
    await fixture.idle();
    expect(fixture.info(id)).toMatchObject({ cachedChunks: 1 });
  });

  test('another model: cut and computed again without reading; the first one again: nothing to do', async () => {
    const fixture = new ServiceFixture(many);
    const { id, chunks } = await fixture.library();
    const other = new FakeModel({ fingerprint: 'e'.repeat(64) });
    rmSync(fixture.root, { recursive: true }); // nothing is read
    fixture.models.use(other, 64);
    await fixture.until(() => other.encoded > 0);
    await fixture.idle();
    const info = fixture.info(id);
    expect(info.chunks).toBeLessThan(chunks);
    expect(info).toMatchObject({ pending: 0, cachedChunks: info.chunks });
    const { encoded } = fixture.model;
    fixture.models.use(fixture.model, 24);
    await fixture.until(() => fixture.info(id).chunks === chunks);
    await fixture.idle();
    expect(fixture.model.encoded).toBe(encoded);
    expect(fixture.info(id)).toMatchObject({ chunks, cachedChunks: chunks });
  });

  test('a question interrupts precomputing, which then goes on', async () => {
    const fixture = new ServiceFixture(many);
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    fixture.service.start();
    await fixture.until(() => fixture.model.encoded > 2);
    let during = -1;
    await fixture.gate.foreground(async () => {
      const { encoded } = fixture.model;
      await new Promise((resolve) => setTimeout(resolve, 100));
      during = fixture.model.encoded - encoded;
    });
    expect(during).toBe(0);
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(fixture.info(id).cachedChunks).toBe(fixture.info(id).chunks);
  });

  test('what the disk budget cannot hold is left out, and reported once', async () => {
    const fixture = new ServiceFixture(many);
    fixture.store.diskBudgetBytes = 3000;
    const info = await fixture.library();
    expect(info.pending).toBe(0);
    expect(info.cachedChunks).toBeGreaterThan(0);
    expect(info.cacheBytes).toBeLessThanOrEqual(3000);
    expect(fixture.events.filter(({ topic }) => topic === 'app.notice')).toHaveLength(1);
  });

  test('windows get progress events, not too often', async () => {
    const fixture = new ServiceFixture(many);
    const started = Date.now();
    await fixture.library();
    const told = fixture.events.filter(({ topic }) => topic === 'queue.status');
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThanOrEqual(2 + (Date.now() - started) / 200);
  });
});

describe('deleting', () => {
  test('a document goes with its KV, but for what another one shares; its file stays and does not come back', async () => {
    const same = 'The same words stand here.';
    const fixture = new ServiceFixture({ 'a.md': same, 'b.md': same, 'c.md': 'other words' });
    const { id } = await fixture.library();
    const [a, b] = fixture.documents(id);
    expect(await fixture.service.documents.delete([a!.id])).toEqual({ evictedChunks: 0, evictedBytes: 0 });
    const { evictedChunks, evictedBytes } = await fixture.service.documents.delete([b!.id]);
    expect(evictedChunks).toBe(1);
    expect(evictedBytes).toBeGreaterThan(0);
    expect(fixture.store.chunks.size).toBe(1);
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(fixture.documents(id).map(({ path }) => path)).toEqual(['c.md']);
    expect(existsSync(join(fixture.root, 'a.md'))).toBe(true);
    await fixture.service.addPaths({ id, paths: [join(fixture.root, 'a.md')], watch: true });
    await fixture.service.rescan(id);
    expect(fixture.documents(id).map(({ path }) => path)).toEqual(['a.md', 'c.md']);
  });

  test('a library goes with its documents and KV, of every model', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'one', 'b.md': 'two' });
    const { id } = await fixture.library();
    fixture.models.use(new FakeModel({ fingerprint: 'e'.repeat(64) }), 24);
    await fixture.until(() => fixture.store.chunks.size === 4);
    await fixture.idle();
    await fixture.service.delete(id);
    expect(fixture.store.chunks.size).toBe(0);
    expect(() => fixture.service.rename(id, 'x')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(existsSync(join(fixture.root, 'a.md'))).toBe(true);
  });

  test('a library whose deletion was cut short is not there after the next start, which deletes the rest', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.md`, `text number ${i}`]));
    const fixture = new ServiceFixture(files);
    const { id } = await fixture.library();
    const stored = fixture.store.chunks.size;
    const evict = fixture.store.evict.bind(fixture.store);
    let evictions = 0;
    let cutShort: Promise<void> | undefined;
    fixture.store.evict = (request) => {
      if (++evictions === 3) cutShort = fixture.restart();
      return evict(request);
    };
    await expect(fixture.service.delete(id)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(fixture.store.chunks.size).toBeGreaterThan(0);
    expect(fixture.store.chunks.size).toBeLessThan(stored);
    await cutShort;
    expect(fixture.service.list().map((library) => library.id)).not.toContain(id);
    await fixture.until(() => fixture.store.chunks.size === 0);
    await fixture.until(() => fixture.catalogue.libraries.doomed().length === 0);
    expect(fixture.documents(id)).toEqual([]);
    expect(existsSync(join(fixture.root, '0.md'))).toBe(true);
  });

  test('the sample library is made once, and stays deleted', async () => {
    const fixture = new ServiceFixture();
    fixture.service.start();
    const [sample] = fixture.service.list();
    expect(sample).toMatchObject({ sample: true, name: 'Sample library' });
    await fixture.restart();
    expect(fixture.service.list()).toHaveLength(1);
    await fixture.service.delete(sample!.id);
    await fixture.restart();
    expect(fixture.service.list()).toEqual([]);
  });
});

describe('uploads', () => {
  const upload = (
    fixture: ServiceFixture,
    id: string,
    path: string,
    text: string | Readable,
  ): Promise<string> =>
    fixture.service.receiveUpload(
      id,
      path,
      typeof text === 'string' ? Readable.from([Buffer.from(text)]) : text,
    );

  /** The folder of a library's uploads. */
  const uploadFolder = (fixture: ServiceFixture, id: string): string =>
    fixture.info(id).roots.find(({ kind }) => kind === 'managed')!.path;

  test('a folder for them that cannot be created is reported', async () => {
    const fixture = new ServiceFixture();
    fixture.service.start();
    const { id } = fixture.service.create('Mine');
    writeFileSync(join(fixture.dir, 'libraries'), 'a file in its place');
    await expect(upload(fixture, id, 'a.md', 'text')).rejects.toMatchObject({
      name: 'KvasirError',
      message: expect.stringContaining('a.md could not be stored') as string,
    });
  });

  test('what was uploaded or named by path is found again, at or below a path', async () => {
    const fixture = new ServiceFixture();
    fixture.service.start();
    const { id } = fixture.service.create('Mine');
    const a = await upload(fixture, id, 'notes/a.md', 'first');
    const b = await upload(fixture, id, 'notes b.md', 'second');
    expect(fixture.service.documents.get(a)).toMatchObject({ path: 'notes/a.md' });
    await expect(
      fixture.service.documentsBelow(id, [join(uploadFolder(fixture, id), 'notes')]),
    ).resolves.toEqual([a]);
    await expect(fixture.service.documentsBelow(id, [uploadFolder(fixture, id)])).resolves.toEqual([b, a]);
    fixture.write('deep/c.md', 'third');
    fixture.write('d.md', 'fourth');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: false });
    const below = await fixture.service.documentsBelow(id, [fixture.root]);
    const known = fixture.service.documents.some([...below, '999']);
    expect(known.map(({ path }) => path)).toEqual(['d.md', 'deep/c.md']);
    await expect(fixture.service.documentsBelow(id, [join(fixture.root, 'd.md')])).resolves.toEqual([
      below[0],
    ]);
    const window = { offset: 0, limit: 10, sort: 'path', descending: false, phase: 'all' } as const;
    const all = fixture.service.documents.list({ search: 'a.md', ...window });
    expect(all).toMatchObject({ total: 1, items: [{ id: a, libraryId: id }] });
  });

  test('a file is stored, read, replaced by a newer one, and deleted with its document', async () => {
    const fixture = new ServiceFixture();
    fixture.service.start();
    const { id } = fixture.service.create('Mine');
    await upload(fixture, id, 'notes/a.md', 'first');
    await fixture.idle();
    await upload(fixture, id, 'notes/a.md', 'second');
    await fixture.idle();
    const [document, ...more] = fixture.documents(id);
    expect(more).toEqual([]);
    expect(fixture.service.documents.text({ id: document!.id, offset: 0, limit: 100 }).text).toBe('second');
    await fixture.service.rescan(id);
    expect(fixture.documents(id)).toHaveLength(1);
    const file = join(uploadFolder(fixture, id), 'notes', 'a.md');
    expect(readFileSync(file, 'utf8')).toBe('second');
    await fixture.service.documents.delete([document!.id]);
    expect(existsSync(file)).toBe(false);
  });

  test('one whose deletion was cut short does not come back; uploaded again, it does', async () => {
    const fixture = new ServiceFixture();
    fixture.service.start();
    const { id } = fixture.service.create('Mine');
    await upload(fixture, id, 'a.md', 'first');
    await upload(fixture, id, 'b.md', 'other');
    await fixture.idle();
    const [a] = fixture.documents(id);
    fixture.store.evict = () => Promise.reject(new KvasirError('STORE_READ_ONLY', 'It cannot be written.'));
    await expect(fixture.service.documents.delete([a!.id])).rejects.toMatchObject({
      code: 'STORE_READ_ONLY',
    });
    await fixture.restart();
    await fixture.service.rescan(id);
    expect(fixture.documents(id).map(({ path }) => path)).toEqual(['b.md']);
    await upload(fixture, id, 'a.md', 'second');
    await fixture.service.rescan(id);
    expect(fixture.documents(id).map(({ path }) => path)).toEqual(['a.md', 'b.md']);
  });

  test('deleting never reaches outside of the data folder, whatever a catalogue from elsewhere says', async () => {
    const fixture = new ServiceFixture({ 'kept/a.md': 'kept', 'kept/b.md': 'kept' });
    fixture.service.start();
    const { id } = fixture.service.create('Mine');
    await upload(fixture, id, 'a.md', 'uploaded');
    await upload(fixture, id, 'b.md', 'uploaded');
    await fixture.idle();
    const kept = join(fixture.root, 'kept');
    const database = openDatabase(join(fixture.dir, 'catalogue.sqlite'), MIGRATIONS);
    database.run('UPDATE root SET path = ?', kept);
    database.run("UPDATE document SET path = '../../docs/kept/b.md' WHERE path = 'b.md'");
    database.close();
    await fixture.restart();
    await fixture.service.documents.delete(fixture.documents(id).map((document) => document.id));
    await fixture.service.removeRoot(
      id,
      fixture.service.list().find((library) => library.id === id)!.roots[0]!.id,
    );
    expect(readdirSync(kept)).toEqual(['a.md', 'b.md']);
    expect(existsSync(join(fixture.dir, 'libraries', 'kept'))).toBe(false);
  });

  describe('folders', () => {
    const names = (fixture: ServiceFixture): string[] =>
      fixture.service
        .list()
        .map(({ name }) => name)
        .filter((name) => name !== 'Sample library');

    test("a new library never gets an old one's, whatever became of the catalogue", async () => {
      const fixture = new ServiceFixture();
      fixture.service.start();
      const old = fixture.service.create('Old');
      await upload(fixture, old.id, 'a.md', 'precious');
      const precious = join(uploadFolder(fixture, old.id), 'a.md');
      await fixture.restart(() => rmSync(join(fixture.dir, 'catalogue.sqlite')));
      await expect.poll(() => names(fixture)).toEqual(['Recovered files']);
      const fresh = fixture.service.create('Fresh');
      await upload(fixture, fresh.id, 'b.md', 'new');
      await fixture.service.delete(fresh.id);
      expect(readFileSync(precious, 'utf8')).toBe('precious');
      const recovered = fixture.service.list().find(({ name }) => name === 'Recovered files')!;
      await fixture.service.rescan(recovered.id);
      expect(fixture.documents(recovered.id).map(({ path }) => path)).toEqual(['a.md']);
      expect(fixture.found).toEqual([expect.objectContaining({ code: 'STORE_CORRUPT' })]);
    });

    test('one whose deletion was cut short is deleted at the next start, and does not come back', async () => {
      const fixture = new ServiceFixture();
      fixture.service.start();
      const { id } = fixture.service.create('Mine');
      await upload(fixture, id, 'a.md', 'x');
      const folder = uploadFolder(fixture, id);
      await fixture.restart(() => {
        // As after a crash between the row and the folder.
        const database = openDatabase(join(fixture.dir, 'catalogue.sqlite'), MIGRATIONS);
        new WordIndex(database); // which defines the function that the triggers call
        database.run('DELETE FROM library WHERE id = ?', id);
        database.run('INSERT INTO discarded_folder VALUES (?)', basename(folder));
        database.close();
      });
      await expect.poll(() => existsSync(folder)).toBe(false);
      expect(names(fixture)).toEqual([]);
    });
  });

  test.each([
    '../a.md',
    '/etc/a.md',
    'a/../../b.md',
    'C:\\a.md',
    'a\0.md',
    'a//b.md',
    '.hidden',
    '',
    'con.md',
    'a\n.md',
    `${'x'.repeat(300)}.md`,
  ])('the path %j is refused', async (path) => {
    const fixture = new ServiceFixture();
    const { id } = fixture.service.create('Mine');
    await expect(upload(fixture, id, path, 'x')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
    expect(fixture.documents(id)).toEqual([]);
  });

  test('too large, or broken off: nothing is left', async () => {
    const fixture = new ServiceFixture();
    const { id } = fixture.service.create('Mine');
    fixture.settings.update({ maxFileBytes: 10 });
    await expect(upload(fixture, id, 'a.md', 'x'.repeat(11))).rejects.toMatchObject({
      code: 'DOCUMENT_TOO_LARGE',
    });
    const broken = new Readable({ read: () => undefined });
    const receiving = upload(fixture, id, 'b.md', broken);
    broken.push('x');
    broken.destroy();
    await expect(receiving).rejects.toMatchObject({ code: 'ABORTED' });
    expect(readdirSync(uploadFolder(fixture, id))).toEqual(['.incoming']);
    expect(fixture.documents(id)).toEqual([]);
  });
});

describe('what windows see', () => {
  test('text by pages, chunks with where they are, and what is stored of them', async () => {
    const fixture = new ServiceFixture({ 'a.md': paragraphs(4) });
    const { id } = await fixture.library();
    const [document] = fixture.documents(id);
    const { text, length } = fixture.service.documents.text({ id: document!.id, offset: 0, limit: 1000 });
    expect(length).toBe(text.length);
    const { total, items } = fixture.service.documents.chunks({ id: document!.id, offset: 0, limit: 2 });
    expect(total).toBe(document!.chunks);
    expect(items).toHaveLength(2);
    for (const chunk of items) {
      expect(text.slice(chunk.start, chunk.end).trim()).toBe(chunk.text);
      expect(chunk).toMatchObject({ cache: 'disk', bytes: chunk.tokens * 10, pinned: false });
      expect(fixture.store.has(chunk.key)).toBe(true);
    }
  });

  test('a long text is read from anywhere', async () => {
    const text = Array.from({ length: 30_000 }, (_, i) => `😀 ${i}\n`).join('');
    const fixture = new ServiceFixture({ 'a.txt': text });
    fixture.service.queue.pause();
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: false });
    fixture.service.queue.resume();
    fixture.models.failure = new KvasirError('MODEL_NOT_FOUND', 'Not needed.');
    fixture.service.start();
    await fixture.service.rescan(id);
    await fixture.until(() => fixture.documents(id)[0]?.phase === 'chunking');
    const documentId = fixture.documents(id)[0]!.id;
    for (const offset of [200_001, 0, 65_535, 65_536, 131_071]) {
      const part = fixture.service.documents.text({ id: documentId, offset, limit: 70_000 });
      expect(part.text).toBe(text.slice(offset, offset + 70_000));
      expect(part.line).toBe(text.slice(0, offset).split('\n').length);
    }
  });

  test('lists can be searched, sorted and paged', async () => {
    const fixture = new ServiceFixture({
      'a_1.md': 'short',
      'b%2.md': paragraphs(2),
      'c.md': '# Ünder\n\nx',
    });
    const { id } = await fixture.library();
    const list = (more: object): string[] =>
      fixture.service.documents
        .list({
          libraryId: id,
          search: '',
          offset: 0,
          limit: 100,
          phase: 'all',
          sort: 'path',
          descending: false,
          ...more,
        })
        .items.map(({ path }) => path);
    expect(list({ search: '_' })).toEqual(['a_1.md']);
    expect(list({ search: '%' })).toEqual(['b%2.md']);
    expect(list({ search: 'nder' })).toEqual(['c.md']);
    expect(list({ sort: 'tokens', descending: true })[0]).toBe('b%2.md');
    expect(list({ offset: 1, limit: 1 })).toEqual(['b%2.md']);
    expect(list({ phase: 'failed' })).toEqual([]);
  });

  test('a preview shows the cuts without storing anything', async () => {
    const fixture = new ServiceFixture({ 'a.md': paragraphs(6) });
    const { id } = await fixture.library();
    const documentId = fixture.documents(id)[0]!.id;
    const { text, chunks } = await fixture.service.documents.preview({ chunkTokens: 64, documentId });
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.every(({ tokens }) => tokens <= 64)).toBe(true);
    expect(chunks.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text);
    expect(fixture.model.encoded).toBe(fixture.info(id).chunks);
  });

  test('ids that name nothing', () => {
    const fixture = new ServiceFixture();
    for (const id of ['7', 'x', '-1', '1e99', '0']) {
      expect(() => fixture.service.documents.get(id)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
      expect(() => fixture.service.rename(id, 'x')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    }
  });

  test('paths that are not there', async () => {
    const fixture = new ServiceFixture();
    const { id } = fixture.service.create('Docs');
    mkdirSync(join(fixture.dir, 'x'));
    await expect(
      fixture.service.addPaths({ id, paths: [join(fixture.dir, 'y')], watch: true }),
    ).rejects.toMatchObject({
      code: 'LIBRARY_NOT_FOUND',
    });
  });
});

test('KV that was deleted and is still wanted is computed again', async () => {
  const fixture = new ServiceFixture({ 'a.md': 'The ship sails at dawn.', 'b.md': 'The mill stands still.' });
  const { id, cachedChunks } = await fixture.library();
  await fixture.store.evict({ keys: [...fixture.store.chunks.keys()] });
  await fixture.service.recompute();
  await fixture.idle();
  expect(fixture.store.chunks.size).toBe(cachedChunks);
  expect(fixture.info(id).cachedChunks).toBe(cachedChunks);
});

/** The library's first document and the keys in the store, each time the encoding of a chunk starts. */
function atEncoding(fixture: ServiceFixture, id: string): { document: DocumentInfo; stored: Set<string> }[] {
  const seen: { document: DocumentInfo; stored: Set<string> }[] = [];
  const encode = fixture.model.encodeChunk.bind(fixture.model);
  fixture.model.encodeChunk = (...args) => {
    seen.push({ document: fixture.documents(id)[0]!, stored: new Set(fixture.store.chunks.keys()) });
    return encode(...args);
  };
  return seen;
}
