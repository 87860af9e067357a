import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import { packText } from '../catalogue/text-table.ts';
import { ModelRegistry } from '../models/registry/model-registry.ts';
import { EventBus } from '../platform/event-bus.ts';
import { openZip } from '../platform/zip.ts';
import { fixture as analysisFixture } from '../testing/analysis.ts';
import { fixture as chatFixture, NEW } from '../testing/chat.ts';
import { ServiceFixture } from '../testing/library.ts';
import { ExportService } from './export-service.ts';

const FILES = {
  'notes/plan.md': 'The ship sails at dawn.',
  'latin.txt': Buffer.from([0x63, 0x61, 0x66, 0xe9]),
};

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-export-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A data folder with something of each kind. */
async function kvasir(files: Record<string, string | Buffer> = FILES) {
  const library = new ServiceFixture(files);
  const { chat, ask } = await chatFixture();
  const { service: analyses } = analysisFixture();
  const models = new ModelRegistry(join(library.dir, 'models.sqlite'));
  onTestFinished(() => models.database.close());
  const { catalogue, dir: data } = library;
  const events: KvasirEvent[] = [];
  const bus = new EventBus();
  bus.on((event) => events.push(event));
  const settingsPath = join(data, 'settings.json');
  const exports = new ExportService({
    ...{ data, settingsPath, program: '1.0.0', catalogue, chat, analyses, models, events: bus },
  });
  const write = (to: string, signal = new AbortController().signal) => exports.write(to, signal);
  return { library, chat, ask, analyses, models, events, settingsPath, write };
}

/** Paths of all files below a folder. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

test('a folder has conversations, projects, drafts, analyses, documents with their text, settings and models', async () => {
  const { library, chat, ask, analyses, settingsPath, write, events } = await kvasir();
  const docs = await library.library();
  const { id } = chat.create(NEW);
  await ask(id, 'Where does Mara live?');
  const deleted = chat.create(NEW);
  await ask(deleted.id, 'A secret?');
  chat.delete(deleted.id);
  chat.createProject({ name: 'Voyage', instructions: 'Answer as a sailor.', modelId: null, options: NEW });
  chat.setDraft({ conversationId: null, text: 'not sent yet' });
  const batch = analyses.ask({ questions: ['What of Oslo?'], scope: NEW.scope });
  await expect.poll(() => analyses.get(batch.id).state).toBe('done');
  writeFileSync(settingsPath, '{"topK": 7}');

  const to = join(tempDir(), 'out');
  const report = await write(to);
  const root = 'libraries/Docs';
  const source = `docs-${docs.roots[0]!.id}`;
  expect(filesIn(to)).toEqual(
    [
      'README.txt',
      'analyses/What-of-Oslo.csv',
      'analyses/What-of-Oslo.json',
      'analyses/What-of-Oslo.md',
      'conversations/Where-does-Mara-live.json',
      'conversations/Where-does-Mara-live.md',
      'conversations/Where-does-Mara-live.reports.json',
      'drafts.json',
      `${root}/documents.csv`,
      `${root}/library.json`,
      `${root}/originals/${source}/latin.txt`,
      `${root}/originals/${source}/notes/plan.md`,
      `${root}/text/${source}/latin.txt.txt`,
      `${root}/text/${source}/notes/plan.md.txt`,
      'libraries/Sample library/documents.csv',
      'libraries/Sample library/library.json',
      'models.json',
      'projects.json',
      'settings.json',
    ].sort(),
  );
  expect(report).toMatchObject({ path: to, files: 19, incomplete: 0, named: [] });
  expect(readFileSync(join(to, root, 'originals', source, 'latin.txt'))).toEqual(FILES['latin.txt']);
  expect(readFileSync(join(to, root, 'text', source, 'latin.txt.txt'), 'utf8')).toBe('café');
  expect(readFileSync(join(to, root, 'documents.csv'), 'utf8')).toMatch(
    /^path,title,[^]*\r\nnotes\/plan\.md,.*,libraries\/Docs\/originals\/docs-\d+\/notes\/plan\.md,/m,
  );
  expect(json(join(to, root, 'library.json'))).toMatchObject({
    name: 'Docs',
    sources: [{ path: library.root }],
  });
  const markdown = readFileSync(join(to, 'conversations', 'Where-does-Mara-live.md'), 'utf8');
  expect(markdown).toContain('She lives in Oslo.');
  expect(markdown).toMatch(/Sources:[^]*mara\.md[^]*from the cache \(\d+ of them recomputed\)/);
  expect(json(join(to, 'conversations', 'Where-does-Mara-live.reports.json'))).toMatchObject({
    reports: [{ report: { parts: expect.any(Array) as unknown }, comparison: null }],
  });
  expect(json(join(to, 'projects.json'))).toMatchObject({
    projects: [{ instructions: 'Answer as a sailor.' }],
  });
  expect(json(join(to, 'drafts.json'))).toMatchObject({ drafts: [{ text: 'not sent yet' }] });
  expect(json(join(to, 'settings.json'))).toEqual({ topK: 7 });
  const progress = events.flatMap(({ topic, payload }) => (topic === 'exports.progress' ? [payload] : []));
  expect(progress.length).toBeGreaterThan(0);
  for (const { done, total } of progress) expect(done).toBeLessThanOrEqual(total);
  expect(events.at(-1)?.topic).toBe('exports.changed');
});

test('a ZIP file has the same files', async () => {
  const { library, write } = await kvasir();
  await library.library();
  const dir = tempDir();
  await write(join(dir, 'out'));
  const report = await write(join(dir, 'out.zip'));
  const { zip, entries } = await openZip(report.path, (why) => new Error(why));
  zip.close();
  expect([...entries.keys()].sort()).toEqual(filesIn(join(dir, 'out')));
  expect(readdirSync(dir).sort()).toEqual(['out', 'out.zip']);
});

const python = spawnSync('python3', ['--version']).status === 0;
test.skipIf(!python)(
  `Python reads the ZIP file${python ? '' : ': skipped, there is no python3'}`,
  async () => {
    const { library, write } = await kvasir();
    await library.library();
    const { path } = await write(join(tempDir(), 'out.zip'));
    const reads = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None';
    execFileSync('python3', ['-c', reads, path]);
  },
);

test('a folder with other files gets a new folder for the export; a file is never replaced', async () => {
  const { write } = await kvasir();
  const dir = tempDir();
  writeFileSync(join(dir, 'mine.zip'), 'mine');
  const { path } = await write(dir);
  expect(path).toMatch(/Kvasir export \d{4}-\d\d-\d\d \d\d-\d\d-\d\d$/);
  await expect(write(join(dir, 'mine.zip'))).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
    message: expect.stringContaining('exists already') as string,
  });
  expect(readFileSync(join(dir, 'mine.zip'), 'utf8')).toBe('mine');
});

test('names that only differ in case or that Windows refuses are changed; a character on the edge of two blocks stays whole', async () => {
  const { library, write } = await kvasir({});
  const { id } = await library.library();
  const { catalogue } = library;
  const text = `${'a'.repeat(65_535)}😀${'b'.repeat(10)}`;
  const root = Number(library.info(id).roots[0]!.id);
  const names = ['Plan.md', 'plan.md', 'a:b.md'];
  for (const path of names) {
    library.write(path, path);
    catalogue.documents.queueFile(Number(id), root, { path, format: 'md', bytes: 1, mtimeMs: 0 });
    const document = catalogue.documents.ofPath(root, path)!;
    const packed = await packText(text);
    catalogue.transaction(() => {
      catalogue.texts.put(document.id, packed);
      const facts = {
        title: path,
        sha256: 'x',
        bytes: 1,
        mtimeMs: 0,
        seenMs: 0,
        warnings: [],
        headings: [],
        pages: [],
      };
      catalogue.documents.setRead(document.id, { ...facts, textLength: text.length }, 'chunking');
    });
  }
  const { path } = await write(join(tempDir(), 'out'));
  const folder = `libraries/Docs/originals/docs-${root}`;
  const originals = filesIn(path).filter((name) => name.startsWith(folder));
  expect(originals).toEqual([`${folder}/Plan.md`, `${folder}/a_b.md`, `${folder}/plan (2).md`]);
  expect(readFileSync(join(path, folder, 'plan (2).md'), 'utf8')).toBe('plan.md');
  const read = readFileSync(join(path, `libraries/Docs/text/docs-${root}/Plan.md.txt`), 'utf8');
  expect(read === text).toBe(true);
});

describe('what cannot be exported is said:', () => {
  test('originals that are gone or are no files; their text is there', async () => {
    const { library, write } = await kvasir({
      'gone.md': 'It is gone.',
      'other.md': 'Another one.',
      'here.md': 'Here.',
    });
    await library.library();
    await library.service.close(); // so that no scan removes them
    rmSync(join(library.root, 'gone.md'));
    rmSync(join(library.root, 'other.md'));
    mkdirSync(join(library.root, 'other.md'));
    const report = await write(join(tempDir(), 'out'));
    expect(report.incomplete).toBe(2);
    expect(report.named).toEqual([
      { path: 'gone.md', reason: expect.stringContaining('ENOENT') as string },
      { path: 'other.md', reason: 'The original is no longer a file.' },
    ]);
    const files = filesIn(report.path).filter((name) => /originals|text/.test(name));
    expect(files.map((name) => name.split('/').at(-1)).sort()).toEqual(
      ['here.md', 'here.md.txt', 'gone.md.txt', 'other.md.txt'].sort(),
    );
    expect(readFileSync(join(report.path, 'libraries/Docs/documents.csv'), 'utf8')).toMatch(
      /gone\.md.*ENOENT/,
    );
  });

  test('a target in the data folder or in a folder of documents', async () => {
    const { library, write } = await kvasir();
    await library.library();
    for (const own of [library.dir, library.root])
      await expect(write(join(own, 'out'))).rejects.toMatchObject({
        code: 'BAD_ARGUMENT',
        message: expect.stringContaining('which Kvasir reads') as string,
      });
    await expect(write('out')).rejects.toThrow('is not a full path');
    await expect(write(join(tempDir(), 'no', 'such', 'out'))).rejects.toThrow('was not found');
  });
});

describe('nothing half stays under the final name', () => {
  test.each(['out', 'out.zip'])('when it is stopped: %s', async (name) => {
    const { library, write } = await kvasir();
    await library.library();
    const stop = new AbortController();
    library.catalogue.texts.blocks = function* () {
      stop.abort();
      yield 'some text';
    };
    const dir = tempDir();
    await expect(write(join(dir, name), stop.signal)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each(['out', 'out.zip'])('when the drive is full: %s', async (name) => {
    const { library, write } = await kvasir({ 'big.md': 'x'.repeat(900) });
    await library.library();
    library.catalogue.texts.blocks = function* () {
      yield 'some text';
      throw Object.assign(new Error('no space'), { code: 'ENOSPC', errno: -28 });
    };
    const dir = tempDir();
    await expect(write(join(dir, name))).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(readdirSync(dir)).toEqual([]);
  });

  test('when there is less room than the documents need', async () => {
    const { library, write } = await kvasir();
    library.catalogue.documents.size = () => ({ bytes: 2 ** 60, textLength: 0 });
    const dir = tempDir();
    await expect(write(join(dir, 'out'))).rejects.toThrow(/needs about \d+ MB, and the disk of/);
    expect(readdirSync(dir)).toEqual([]);
  });
});

test('an export of uploads has the bytes that were uploaded', async () => {
  const { library, write } = await kvasir({});
  library.service.start();
  const { id } = library.service.create('Mine');
  await library.service.receiveUpload(id, 'sub/note.md', Readable.from(['uploaded words']));
  await library.idle();
  const { path } = await write(join(tempDir(), 'out'));
  const original = join(path, 'libraries/Mine/originals/uploads/sub/note.md');
  expect(readFileSync(original, 'utf8')).toBe('uploaded words');
  expect(statSync(original).size).toBe(14);
});
