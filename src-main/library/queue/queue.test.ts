import { describe, expect, test } from 'vitest';
import { FakeModel } from '../../testing/fusion.ts';
import { ServiceFixture } from '../../testing/library.ts';

const MANY = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [
    `${i}.md`,
    `Ship ${i} sails at dawn with a crew of ${i + 20} sailors.`,
  ]),
);

describe('the disk budget', () => {
  test('that is full is reported with its size, once; raising it computes the rest', async () => {
    const fixture = new ServiceFixture(MANY);
    fixture.store.diskBudgetBytes = 500;
    const { id, chunks, cachedChunks } = await fixture.library();
    expect(cachedChunks).toBeLessThan(chunks);
    const notices = fixture.events
      .filter(({ topic }) => topic === 'app.notice')
      .map(({ payload }) => payload);
    expect(notices).toMatchObject([{ level: 'warning', failure: { code: 'CACHE_FULL' } }]);
    expect(notices[0]).toMatchObject({ failure: { message: expect.stringContaining('500 B') as string } });

    fixture.store.diskBudgetBytes = 1e9;
    fixture.bus.emit('cache.changed', {});
    await fixture.until(() => fixture.info(id).cachedChunks === chunks);
    expect(fixture.documents(id).every(({ phase }) => phase === 'ready')).toBe(true);
  });

  test('tokens that cannot fit it are not waited for', async () => {
    const fixture = new ServiceFixture(MANY);
    fixture.store.diskBudgetBytes = 500;
    const totals: number[] = [];
    const encode = fixture.model.encodeChunk.bind(fixture.model);
    fixture.model.encodeChunk = async (...args) => {
      await fixture.until(() => fixture.catalogue.documents.phaseCounts().size <= 2); // the rest has been chunked
      totals.push(fixture.service.queue.status().tokensTotal);
      return encode(...args);
    };
    await fixture.library();
    expect(totals.length).toBeGreaterThan(0);
    expect(Math.max(...totals) * fixture.model.bytesPerToken()).toBeLessThanOrEqual(500);
  });
});

test('documents are ready once they are cut where the model has no KV of chunks; with one that has, they are computed', async () => {
  const fixture = new ServiceFixture(MANY);
  fixture.models.use(new FakeModel({ fingerprint: 'ab'.repeat(32), obstacle: 'running-state' }), 24);
  const { id, chunks, cachedChunks } = await fixture.library();
  expect(chunks).toBeGreaterThan(0);
  expect(cachedChunks).toBe(0);
  expect(fixture.documents(id).every(({ phase }) => phase === 'ready')).toBe(true);
  fixture.service.queue.fill();
  await fixture.idle();
  expect(fixture.service.queue.status()).toMatchObject({ active: 0, blocked: null });

  fixture.models.use(fixture.model, 24);
  await fixture.until(() => fixture.info(id).cachedChunks === fixture.info(id).chunks);
});

describe('the queue’s numbers', () => {
  test('count a document once, also when another model starts it over', async () => {
    const fixture = new ServiceFixture(MANY);
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    fixture.service.start();
    await fixture.until(() => fixture.service.queue.status().done > 3);
    fixture.models.use(new FakeModel({ fingerprint: 'ab'.repeat(32) }), 24);
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(fixture.service.queue.status()).toMatchObject({ done: 12, total: 12 });
  });

  test('begin without a speed for another model', async () => {
    const fixture = new ServiceFixture(MANY);
    await fixture.library();
    expect(fixture.service.queue.status().tokensPerSecond).toBeGreaterThan(0);
    fixture.service.queue.pause();
    fixture.models.use(new FakeModel({ fingerprint: 'ab'.repeat(32) }), 24);
    await fixture.until(() => fixture.service.queue.status().active === 12);
    expect(fixture.service.queue.status()).toMatchObject({
      tokensPerSecond: 0,
      secondsLeft: null,
      done: 0,
      total: 12,
    });
  });

  test('forget a library that is deleted', async () => {
    const fixture = new ServiceFixture(MANY);
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const encode = fixture.model.encodeChunk.bind(fixture.model);
    fixture.model.encodeChunk = (...args) => promise.then(() => encode(...args));
    fixture.service.start();
    await fixture.until(() => fixture.catalogue.documents.phaseCounts().get('precomputing') === 12);
    expect(fixture.service.queue.status().tokensTotal).toBeGreaterThan(0);
    const deleted = fixture.service.delete(id);
    resolve(undefined);
    await deleted;
    await fixture.idle();
    const { tokensDone, tokensTotal, done, total } = fixture.service.queue.status();
    expect([tokensTotal, total]).toEqual([tokensDone, done]);
  });
});
