import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ServiceFixture } from '../testing/library.ts';

const FILES = Object.fromEntries(
  Array.from({ length: 6 }, (_, i) => [`${i}.md`, `Ship ${i} sails at dawn.`]),
);

test('a library that is deleted is in no list from that moment on', async () => {
  const fixture = new ServiceFixture(FILES);
  const { id } = await fixture.library();
  const deleted = fixture.service.delete(id);
  expect(fixture.service.list().map((library) => library.id)).not.toContain(id);
  await deleted;
  expect(fixture.store.chunks.size).toBe(0);
});

test('what is in a cache folder that is not connected is deleted, too', async () => {
  const fixture = new ServiceFixture(FILES);
  const { id } = await fixture.library();
  const stored = [...fixture.store.chunks.keys()];
  fixture.store.has = () => false;
  fixture.store.isAway = () => true;
  const evicted = new Set<string>();
  fixture.store.evict = ({ keys = [] }) => {
    for (const key of keys) evicted.add(key);
    return Promise.resolve({ entries: keys.length, bytes: 0, kept: 0 });
  };
  await fixture.service.delete(id);
  expect(stored).not.toEqual([]);
  expect([...evicted]).toEqual(expect.arrayContaining(stored));
});

test('a removal that a crash interrupts resumes at the next start', async () => {
  const fixture = new ServiceFixture(FILES);
  const { id } = await fixture.library();
  fixture.store.evict = () => Promise.reject(new Error('crash'));
  await expect(fixture.service.delete(id)).rejects.toThrow('crash');
  Reflect.deleteProperty(fixture.store, 'evict');
  await fixture.restart();
  expect(fixture.service.list().map((library) => library.id)).not.toContain(id);
  await fixture.until(() => fixture.catalogue.libraries.get(Number(id)) === undefined);
});

describe('what a crash interrupts, the next start finishes:', () => {
  /** Uploads, all ready. */
  async function uploaded(names: readonly string[]) {
    const fixture = new ServiceFixture();
    fixture.service.start();
    const { id } = fixture.service.create('Mine');
    for (const name of names)
      await fixture.service.receiveUpload(id, name, Readable.from([`This is ${name}.`]));
    await fixture.idle();
    const [{ path: folder, id: rootId } = { path: '', id: '' }] = fixture.info(id).roots;
    const paths = (): string[] => fixture.documents(id).map(({ path }) => path);
    const files = (): string[] =>
      existsSync(folder) ? readdirSync(folder).filter((name) => name !== '.incoming') : [];
    return { fixture, id, rootId, folder, paths, files };
  }

  function crashAtEviction(fixture: ServiceFixture): void {
    fixture.store.evict = () => Promise.reject(new Error('crash'));
  }

  test('a source that is taken out', async () => {
    const { fixture, id, rootId, folder, paths } = await uploaded(['a.md', 'b.md']);
    crashAtEviction(fixture);
    await expect(fixture.service.removeRoot(id, rootId)).rejects.toThrow('crash');
    expect(paths()).toEqual([]);
    Reflect.deleteProperty(fixture.store, 'evict');
    await fixture.restart();
    await fixture.until(() => !existsSync(folder));
    await fixture.idle();
    expect(fixture.info(id)).toMatchObject({ documents: 0, roots: [] });
    expect(fixture.catalogue.libraries.doomed()).toEqual([]);
  });

  test('a folder that is taken out does not come back, and its files stay', async () => {
    const fixture = new ServiceFixture(FILES);
    const { id, roots } = await fixture.library();
    crashAtEviction(fixture);
    await expect(fixture.service.removeRoot(id, roots[0]!.id)).rejects.toThrow('crash');
    Reflect.deleteProperty(fixture.store, 'evict');
    await fixture.restart();
    await fixture.until(() => fixture.catalogue.libraries.doomed().length === 0);
    expect(fixture.info(id)).toMatchObject({ documents: 0, roots: [] });
    expect(readdirSync(fixture.root)).toHaveLength(6);
  });

  test.each([[['a.md', 'b.md', 'c.md']], [['a.md', 'b.md']]])(
    'uploads %j of three that are deleted',
    async (deleted) => {
      const { fixture, paths, files, id } = await uploaded(['a.md', 'b.md', 'c.md']);
      const ids = fixture.documents(id).filter(({ path }) => deleted.includes(path));
      crashAtEviction(fixture);
      await expect(fixture.service.documents.delete(ids.map((each) => each.id))).rejects.toThrow('crash');
      await fixture.restart();
      const left = ['a.md', 'b.md', 'c.md'].filter((name) => !deleted.includes(name));
      await fixture.until(() => paths().join() === left.join());
      expect(files()).toEqual(left);
    },
  );

  test('uploads whose files are still there', async () => {
    const { fixture, paths, files, id, rootId } = await uploaded(['a.md', 'b.md']);
    fixture.catalogue.libraries.exclude(Number(rootId), 'a.md'); // as the first step of deleting it
    await fixture.restart();
    await fixture.until(() => paths().join() === 'b.md' && files().join() === 'b.md');
    await fixture.service.receiveUpload(id, 'a.md', Readable.from(['Anew.']));
    await fixture.service.rescan(id);
    expect(files()).toEqual(['a.md', 'b.md']);
  });

  test('a single file that is deleted', async () => {
    const fixture = new ServiceFixture({ 'a.md': 'A ship.' });
    fixture.service.start();
    const { id } = fixture.service.create('Mine');
    await fixture.service.addPaths({ id, paths: [join(fixture.root, 'a.md')], watch: true });
    await fixture.service.rescan(id);
    await fixture.idle();
    crashAtEviction(fixture);
    const [document] = fixture.documents(id);
    await expect(fixture.service.documents.delete([document!.id])).rejects.toThrow('crash');
    await fixture.restart();
    expect(fixture.info(id)).toMatchObject({ documents: 0, roots: [] });
    expect(existsSync(join(fixture.root, 'a.md'))).toBe(true);
  });
});
