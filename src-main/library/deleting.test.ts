import { expect, test } from 'vitest';
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

test('a removal that a crash interrupts goes on at the next start', async () => {
  const fixture = new ServiceFixture(FILES);
  const { id } = await fixture.library();
  fixture.store.evict = () => Promise.reject(new Error('crash'));
  await expect(fixture.service.delete(id)).rejects.toThrow('crash');
  Reflect.deleteProperty(fixture.store, 'evict');
  await fixture.restart();
  expect(fixture.service.list().map((library) => library.id)).not.toContain(id);
  await fixture.until(() => fixture.catalogue.libraries.get(Number(id)) === undefined);
});
