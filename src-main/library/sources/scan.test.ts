import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ServiceFixture } from '../../testing/library.ts';
import { placeholdersAmong } from './placeholders.ts';
import { scanFolder } from './scan.ts';

function folderOf(files: readonly (string | Buffer)[]): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kvasir-scan-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of files) {
    const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(file as Buffer)]);
    mkdirSync(dirname(path.toString()), { recursive: true });
    writeFileSync(path, 'words');
  }
  return folder;
}

async function found(folder: string): Promise<{ files: string[]; skipped: string[] }> {
  const { files, skipped } = await scanFolder(folder);
  return {
    files: files.map(({ path }) => path),
    skipped: skipped.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

test('files that other programs leave for a moment are neither documents nor reported', async () => {
  const passing = [
    '~$report.docx',
    '.~lock.report.odt#',
    'desktop.ini',
    'Thumbs.db',
    '.DS_Store',
    '._report.txt',
    'notes.txt~',
  ];
  const more = [
    'draft.md.swp',
    '#draft.md#',
    '~WRL0001.tmp',
    'big.pdf.crdownload',
    'big.pdf.part',
    'a.tmp',
    '__MACOSX/a.txt',
  ];
  const folder = folderOf([...passing, ...more, 'report.txt', 'report (conflicted copy).txt', 'x.exe']);
  expect(await found(folder)).toEqual({
    files: ['report (conflicted copy).txt', 'report.txt'],
    skipped: ['x.exe: kind'],
  });
});

test('links and loops of links end, and what they lead to keeps its own path', async () => {
  const folder = folderOf(['real/a.md']);
  symlinkSync('real', join(folder, 'before'));
  symlinkSync('real', join(folder, 'zulu'));
  symlinkSync('.', join(folder, 'loop'));
  symlinkSync('two', join(folder, 'one'));
  symlinkSync('one', join(folder, 'two'));
  expect(await found(folder)).toEqual({
    files: ['real/a.md'],
    skipped: ['one: unreadable', 'two: unreadable'],
  });
});

test.skipIf(process.platform === 'win32')('odd names are read', async () => {
  const names = [
    'Grösse.md'.normalize('NFC'),
    'Grösse.md'.normalize('NFD'),
    'a\u202egnp.txt',
    'new\nline.txt',
    '🫨👩‍🚒.txt',
    `${'x'.repeat(251)}.txt`,
  ];
  const bytes = process.platform === 'linux' ? [Buffer.from('latin-\xe9.txt', 'latin1')] : [];
  const { files, skipped } = await found(folderOf([...names, ...bytes]));
  expect(skipped).toEqual([]);
  expect(files).toHaveLength(new Set([...names, ...bytes]).size);
});

test.skipIf(process.platform !== 'linux')('the text of a file whose name is not UTF-8 is read', async () => {
  const fixture = new ServiceFixture();
  writeFileSync(
    Buffer.concat([Buffer.from(`${fixture.root}/`), Buffer.from('latin-\xe9.txt', 'latin1')]),
    'words',
  );
  const { id } = await fixture.library();
  expect(fixture.documents(id)).toMatchObject([{ path: 'latin-\ufffd.txt', phase: 'ready', failure: null }]);
});

test('a document is found by its name in either spelling', async () => {
  const fixture = new ServiceFixture({ ['Grösse.md'.normalize('NFD')]: 'words' });
  const { id } = await fixture.library();
  for (const form of ['NFC', 'NFD']) expect(fixture.documents(id, 'Grösse'.normalize(form))).toHaveLength(1);
});

test('a conflict copy is named: two versions have one title', async () => {
  const text = '# Report\n\nwords\n';
  const fixture = new ServiceFixture({ 'report.md': text, 'report (conflicted copy).md': `${text}more` });
  const { id } = await fixture.library();
  expect(fixture.documents(id).map(({ title, warnings }) => [title, warnings.length])).toEqual([
    ['report (conflicted copy)', 1],
    ['Report', 0],
  ]);
});

test('a file whose time lies ahead, or long ago, is read once', async () => {
  const fixture = new ServiceFixture({ 'ahead.md': 'one', 'old.md': 'two' });
  const ahead = Date.now() / 1000 + 2 * 365 * 86_400;
  utimesSync(join(fixture.root, 'ahead.md'), ahead, ahead);
  utimesSync(join(fixture.root, 'old.md'), 0, 0);
  const { id } = await fixture.library();
  const seen = (): unknown =>
    fixture
      .documents(id)
      .map(({ id: document }) => fixture.catalogue.documents.get(Number(document))?.seenMs);
  const before = seen();
  for (let scan = 0; scan < 3; scan++) {
    await fixture.service.rescan(id);
    await fixture.idle();
  }
  await fixture.restart();
  await fixture.service.rescan(id);
  await fixture.idle();
  expect(seen()).toEqual(before);
});

test('a placeholder is a file with a size and without blocks', async () => {
  const known = { size: 5000, blocks: 16, dev: 1 };
  const stats = new Map([
    ['/away.md', { size: 5000, blocks: 0, dev: 1 }],
    ['/empty.md', { size: 0, blocks: 0, dev: 1 }],
    ['/here.md', known],
  ]);
  expect([...(await placeholdersAmong(stats))]).toEqual(['/away.md']);
});

test('placeholders with names of their own stand for the file', async () => {
  const folder = folderOf(['a.md', 'sub/b.docx.nextcloud', '.c.pdf.icloud', '.d.exe.icloud']);
  expect(await found(folder)).toEqual({ files: ['a.md'], skipped: ['c.pdf: online', 'sub/b.docx: online'] });
});

/** A file system that keeps holes, which have no blocks. */
function isSparse(path: string): boolean {
  return statSync(path).blocks === 0;
}

test('a file that is only in a cloud is not read, and keeps the text that it had', async (context) => {
  const fixture = new ServiceFixture({ 'a.md': 'words', 'b.md': 'words of b' });
  const { id } = await fixture.library();
  for (const name of ['b.md', 'c.md']) {
    rmSync(join(fixture.root, name), { force: true });
    writeFileSync(join(fixture.root, name), '');
    truncateSync(join(fixture.root, name), 10_000);
  }
  if (!isSparse(join(fixture.root, 'c.md'))) context.skip();
  await fixture.service.rescan(id);
  await fixture.idle();
  expect(fixture.documents(id).map(({ path, phase }) => [path, phase])).toEqual([
    ['a.md', 'ready'],
    ['b.md', 'ready'],
  ]);
  const root = fixture.info(id).roots[0]!;
  expect(fixture.service.skipped(id, root.id).files).toEqual([
    { path: 'b.md', reason: 'online' },
    { path: 'c.md', reason: 'online' },
  ]);
});

test('a placeholder that is in the queue is not read: it would be downloaded', async (context) => {
  const fixture = new ServiceFixture({ 'b.md': 'words of b' });
  const { id } = await fixture.library();
  fixture.service.queue.pause();
  fixture.write('c.md', 'words of c');
  await fixture.service.rescan(id);
  for (const name of ['b.md', 'c.md']) {
    writeFileSync(join(fixture.root, name), '');
    truncateSync(join(fixture.root, name), 10_000);
  }
  if (!isSparse(join(fixture.root, 'c.md'))) context.skip();
  // As after an update that reads all documents again.
  fixture.catalogue.documents.retry(fixture.documents(id).map((document) => Number(document.id)));
  fixture.service.queue.resume();
  await fixture.idle();
  const [known, unknown] = fixture.documents(id);
  expect(known).toMatchObject({ path: 'b.md', phase: 'ready', failure: null });
  expect(fixture.service.documents.text({ id: known!.id, offset: 0, limit: 100 }).text).toBe('words of b');
  expect(unknown).toMatchObject({ path: 'c.md', phase: 'failed', failure: { code: 'DOCUMENT_UNREADABLE' } });
  expect(unknown?.failure?.message).toContain('placeholder');
});

test('names that Windows shortens, and odd characters in them, are names', async () => {
  const names = [
    'REPORT~1.TXT',
    'a%20b.md',
    "it's [1] {2} #3 & 100%.txt",
    'trailing space .txt',
    '.txt.txt',
    '~draft.md',
  ];
  const files = names.filter((name) => !name.startsWith('.')).toSorted();
  expect(await found(folderOf(names))).toEqual({ files, skipped: [] });
});

test.skipIf(process.platform === 'win32')(
  'two names that differ in their spelling stay two documents, found by either',
  async () => {
    const [nfc, nfd] = ['Größe 학점인정.md'.normalize('NFC'), 'Größe 학점인정.md'.normalize('NFD')];
    const fixture = new ServiceFixture({ [nfc]: 'seven', [nfd]: 'nine' });
    const { id } = await fixture.library();
    const both = fixture.documents(id).length;
    for (const search of ['Größe 학', '학점인정']) {
      for (const form of ['NFC', 'NFD'])
        expect(fixture.documents(id, search.normalize(form))).toHaveLength(both);
    }
    if (process.platform === 'linux') expect(both).toBe(2);
  },
);

test.skipIf(process.platform === 'win32')(
  'a link to a folder above, and one from another folder, do not double documents',
  async () => {
    const outside = folderOf(['shared/x.md']);
    const folder = folderOf(['a/b/one.md']);
    symlinkSync(folder, join(folder, 'a', 'b', 'up'), 'junction');
    symlinkSync(join(outside, 'shared'), join(folder, 'first'), 'junction');
    symlinkSync(join(outside, 'shared'), join(folder, 'second'), 'junction');
    symlinkSync(folder, join(outside, 'shared', 'back'), 'junction');
    expect(await found(folder)).toEqual({ files: ['a/b/one.md', 'first/x.md'], skipped: [] });
  },
);
