import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { ServiceFixture } from '../../testing/library.ts';

test.each(['letter.wpd', 'poster.ps', 'program.exe', 'README'])(
  'an upload that a scan would not pick up is refused, with the reason: %s',
  async (name) => {
    const fixture = new ServiceFixture();
    const { id } = fixture.service.create('Docs');
    fixture.service.start();
    const body = Readable.from([Buffer.from('{\\rtf1 words}')]);
    await expect(fixture.service.receiveUpload(id, name, body)).rejects.toMatchObject({
      code: 'DOCUMENT_UNSUPPORTED',
      message: expect.stringContaining(name) as string,
      advice: expect.stringMatching(/PDF/) as string,
    });
    expect(fixture.info(id).documents).toBe(0);
  },
);

test('files that Office and Windows leave in a folder are no documents', async () => {
  const names = ['report.txt', '~$report.docx', 'desktop.ini', 'Thumbs.db', 'report (conflicted copy).txt'];
  const fixture = new ServiceFixture(Object.fromEntries(names.map((name) => [name, `words of ${name}`])));
  const { id, failed, roots } = await fixture.library();
  expect(fixture.documents(id).map(({ path }) => path)).toEqual([
    'report (conflicted copy).txt',
    'report.txt',
  ]);
  expect([failed, roots[0]?.skipped]).toEqual([0, 0]);
});

test('what was uploaded is there after a restart', async () => {
  const fixture = new ServiceFixture();
  const { id } = fixture.service.create('Docs');
  fixture.service.start();
  await fixture.service.receiveUpload(id, 'notes/a.md', Readable.from([Buffer.from('words')]));
  await fixture.restart();
  await fixture.service.rescan(id);
  await fixture.idle();
  expect(fixture.documents(id).map(({ path, phase }) => [path, phase])).toEqual([['notes/a.md', 'ready']]);
});

test('a file of such a kind that was named by its path fails with the reason; PostScript is not read as text', async () => {
  const fixture = new ServiceFixture({ 'poster.ps': '%!PS (words) show' });
  const { id } = fixture.service.create('Docs');
  fixture.service.start();
  await fixture.service.addPaths({ id, paths: [join(fixture.root, 'poster.ps')], watch: true });
  await fixture.service.rescan(id);
  await fixture.idle();
  expect(fixture.documents(id)).toMatchObject([
    { phase: 'failed', failure: { code: 'DOCUMENT_UNSUPPORTED' } },
  ]);
});

test('files of a folder that are skipped are listed with the reason, but for hidden ones', async () => {
  const fixture = new ServiceFixture({ 'a.md': 'one', 'b.wpd': 'x', 'sub/c.exe': 'x', '.hidden': 'x' });
  mkdirSync(join(fixture.root, 'node_modules'));
  symlinkSync(join(fixture.root, 'nowhere.md'), join(fixture.root, 'broken.md'));
  symlinkSync(join(fixture.root, 'nowhere'), join(fixture.root, 'broken'));
  const { id, roots } = await fixture.library();
  expect(roots).toMatchObject([{ skipped: 4 }]);
  expect(fixture.service.skipped(id, roots[0]!.id)).toEqual({
    total: 4,
    files: [
      { path: 'b.wpd', reason: 'kind' },
      { path: 'broken', reason: 'unreadable' },
      { path: 'broken.md', reason: 'unreadable' },
      { path: 'sub/c.exe', reason: 'kind' },
    ],
  });
});
