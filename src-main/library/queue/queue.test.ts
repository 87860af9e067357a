import { setTimeout } from 'node:timers/promises';
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

describe('what is computed first', () => {
  const LONG = Object.fromEntries(
    Array.from({ length: 6 }, (_, doc) => [
      `${doc}.md`,
      Array.from(
        { length: 8 },
        (_, i) => `Ship ${doc} of port ${i} sails at dawn with ${i + 20} sailors on it.`,
      ).join('\n\n'),
    ]),
  );

  /** Resolves when at most the document that is computed is left, of those that are not computed yet. */
  const allCut = (fixture: ServiceFixture): Promise<void> =>
    fixture.until(() => {
      const counts = fixture.catalogue.documents.phaseCounts();
      return [...counts.keys()].every((phase) => phase === 'precomputing' || phase === 'ready');
    });

  /** A library whose KV is computed again, for another model; returns the chunks in the order in which they are computed. */
  async function recomputed(fixture: ServiceFixture, libraryId: string): Promise<number[]> {
    const other = new FakeModel({ fingerprint: 'ab'.repeat(32) });
    const texts: string[] = [];
    const encode = other.encodeChunk.bind(other);
    other.encodeChunk = async (tokens, ...more) => {
      texts.push(String(tokens));
      await allCut(fixture);
      return encode(tokens, ...more);
    };
    fixture.models.use(other, 24);
    await fixture.service.rescan(libraryId);
    await fixture.idle();
    const setId = fixture.catalogue.chunkTable.findSet(Number(libraryId), other.info.fingerprint, 24) ?? -1;
    const chunks = [...fixture.catalogue.chunks(setId)];
    return texts.map((text) => chunks.findIndex(({ tokens }) => String(tokens) === text));
  }

  const chunksOf = (fixture: ServiceFixture, libraryId: string) => {
    const setId =
      fixture.catalogue.chunkTable.findSet(Number(libraryId), fixture.model.info.fingerprint, 24) ?? -1;
    return [...fixture.catalogue.chunks(setId)];
  };

  test('the passages that were found, the best first, then openings; with a budget for a third they are all in it', async () => {
    const fixture = new ServiceFixture(LONG);
    const { id, chunks: count } = await fixture.library();
    const chunks = chunksOf(fixture, id);
    const wanted = [17, 30, 5, 12].map((at) => chunks[at]!);
    fixture.service.queue.placed((places) => places.found(wanted.map((chunk) => chunk.id)));
    await fixture.idle();
    fixture.store.chunks.clear();
    fixture.store.diskBudgetBytes =
      (chunks.reduce((sum, { tokens }) => sum + tokens.length, 0) * fixture.model.bytesPerToken()) / 3;
    const order = await recomputed(fixture, id);
    const wantedAt = wanted.map((chunk) => chunks.indexOf(chunk));
    expect(order.slice(0, 5).filter((at) => wantedAt.includes(at))).toEqual(wantedAt); // one before the rest was cut
    const openings = chunks.flatMap(({ ordinal }, i) => (ordinal === 0 ? [i] : []));
    expect(order.slice(0, 10).toSorted((a, b) => a - b)).toEqual(
      [...wantedAt, ...openings].toSorted((a, b) => a - b),
    );
    expect(order.length).toBeLessThanOrEqual(count / 3);
  });

  test('a passage that is found while documents are computed comes next, before the rest of its document', async () => {
    const fixture = new ServiceFixture(LONG);
    const { id } = fixture.service.create('Docs');
    await fixture.service.addPaths({ id, paths: [fixture.root], watch: true });
    const encode = fixture.model.encodeChunk.bind(fixture.model);
    const order: string[] = [];
    fixture.model.encodeChunk = async (tokens, ...more) => {
      order.push(String(tokens));
      await allCut(fixture);
      if (order.length === 12) {
        const rest = chunksOf(fixture, id).filter((chunk) => !order.includes(String(chunk.tokens)));
        fixture.service.queue.placed((places) => places.found([rest.at(-1)!.id]));
        order.push(`next: ${String(rest.at(-1)!.tokens)}`);
      }
      return encode(tokens, ...more);
    };
    fixture.service.start();
    await fixture.service.rescan(id);
    await fixture.idle();
    expect(`next: ${order[13]}`).toBe(order[12]);
    expect(fixture.info(id).cachedChunks).toBe(fixture.info(id).chunks);
    expect(fixture.store.foundKeys).toHaveLength(1);
  });

  test('a passage that is found and stored changes nothing that windows would fetch again', async () => {
    const fixture = new ServiceFixture(LONG);
    const { id } = await fixture.library({ watch: false });
    await setTimeout(1100); // events are 500 ms apart: the last of its making, and the pause after it
    fixture.events.length = 0;
    fixture.service.queue.placed((places) => places.found([chunksOf(fixture, id)[3]!.id]));
    await fixture.until(() => fixture.store.foundKeys.length === 1);
    await fixture.idle();
    await setTimeout(100); // the end of its step
    expect(fixture.events.filter(({ topic }) => topic === 'library.changed')).toEqual([]);
  });

  test('a passage of a ready document is computed when it is found, if its KV was left out', async () => {
    const fixture = new ServiceFixture(LONG);
    fixture.store.diskBudgetBytes = 500;
    const { id } = await fixture.library();
    const before = fixture.store.chunks.size;
    fixture.store.diskBudgetBytes = 1e9;
    const left = chunksOf(fixture, id).at(-1)!;
    fixture.service.queue.placed((places) => places.found([left.id]));
    await fixture.until(() => fixture.store.chunks.size > before);
    fixture.service.queue.placed((places) => places.found([left.id]));
    await fixture.until(() => fixture.store.foundKeys.length === 2);
    expect(fixture.store.chunks.size).toBe(before + 1);
  });

  test('only the newest places are kept, also of those that people open', async () => {
    const fixture = new ServiceFixture(LONG);
    const { id } = await fixture.library();
    const { places } = fixture.catalogue;
    const document = Number(fixture.documents(id)[0]!.id);
    for (let position = 0; position < 4100; position++) places.add(document, position, 'found');
    const kept: number[] = [];
    for (let place; (place = places.next('any'));) {
      if (place.reason === 'found') kept.push(place.position);
      places.setTried(place, 'any');
    }
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([4096, 4099, 4]);
  });

  test('a place that cannot be noted is no failure of the search', async () => {
    const fixture = new ServiceFixture(LONG);
    await fixture.library();
    expect(() =>
      fixture.service.queue.placed(() => {
        throw new Error('disk full');
      }),
    ).not.toThrow();
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
    // The documents are back before their numbers are forgotten.
    await fixture.until(
      () => fixture.service.queue.status().total === 12 && fixture.service.queue.status().done === 0,
    );
    expect(fixture.service.queue.status()).toMatchObject({
      active: 12,
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
