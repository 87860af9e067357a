import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CostModel } from '../../fusion/planning/cost-model.ts';
import { ServiceFixture } from '../../testing/library.ts';
import { FakeModel } from '../../testing/fusion.ts';
import { precomputePlan, predictedMsPerToken } from './precompute-plan.ts';

const DOCUMENTS = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [
    `${i}.md`,
    `Ship ${i} sails at dawn with a crew of ${i + 20} sailors.`,
  ]),
);

test('tokens, bytes by format, time and the share that the budget holds are those that computing then needs', async () => {
  const fixture = new ServiceFixture(DOCUMENTS);
  const { model, service, store } = fixture;
  const active = { model, chunkTokens: 24 };
  service.queue.pause();
  const { id } = service.create('Docs');
  await service.addPaths({ id, paths: [fixture.root], watch: true });
  service.start();
  await service.rescan(id);
  const before = await service.plan(active, 'f16', id);
  expect(before?.tokens).toBeGreaterThan(0); // estimated from the files' sizes
  expect(before?.seconds).toBeNull();

  store.diskBudgetBytes = 500;
  service.queue.resume();
  await fixture.idle();
  const { tokens, cacheBytes } = fixture.info(id);
  const after = (await service.plan(active, 'f16', id))!;
  const perToken = model.bytesPerToken();
  expect(after.bytes.f16).toBe(after.tokens * perToken);
  expect(Math.abs(after.tokens - (tokens - cacheBytes / perToken))).toBeLessThanOrEqual(12); // chunks of a document count as equal
  expect(after.budgetShare).toBeCloseTo((500 - cacheBytes) / after.bytes.f16);
  expect(before!.tokens / tokens).toBeGreaterThan(0.5);
  expect(before!.tokens / tokens).toBeLessThan(2);

  store.diskBudgetBytes = 1e9;
  service.queue.fill();
  await fixture.until(() => fixture.info(id).cachedChunks === fixture.info(id).chunks);
  expect(await service.plan(active, 'f16', id)).toMatchObject({ tokens: 0, budgetShare: 1 });
});

test('the time is that of the cost model, another library counts for nothing, and a larger budget is named', async () => {
  const fixture = new ServiceFixture(DOCUMENTS, {});
  fixture.store.diskBudgetBytes = 0;
  const { id } = await fixture.library();
  const other = fixture.service.create('Empty');
  const { service, model } = fixture;
  const costs = new CostModel(join(fixture.dir, 'costs.json'));
  for (let i = 0; i < 5; i++) costs.observeEncode(model.info, 24, 48);
  const parts = { catalogue: fixture.catalogue, store: fixture.store, costs };
  const plan = (await precomputePlan({ model, chunkTokens: 24 }, 'f16', parts, Number(id)))!;
  expect(plan.seconds! / ((plan.tokens * 2) / 1000)).toBeCloseTo(1, 0);
  expect(plan.budgetShare).toBe(0);
  expect(await service.plan({ model, chunkTokens: 24 }, 'f16', other.id)).toMatchObject({ tokens: 0 });

  // A proposed budget is named where it would hold more.
  const half = plan.bytes.f16 / 2;
  const proposal = (bytes: number) =>
    precomputePlan({ model, chunkTokens: 24 }, 'f16', { ...parts, proposal: async () => ({ bytes }) });
  expect(plan.proposal).toBeNull();
  expect((await proposal(half))?.proposal).toEqual({ bytes: half, share: 0.5 });
  fixture.store.diskBudgetBytes = half;
  expect((await proposal(half))?.proposal).toBeNull();
});

test('the time of large chunks is that of their passes, with the text before them', () => {
  const { info } = new FakeModel();
  const costs = { fullPrefill: (_: unknown, tokens: number) => 2 * tokens } as unknown as CostModel;
  const of = (chunkTokens: number) => predictedMsPerToken({ model: { info }, chunkTokens }, costs);
  expect(of(128)).toBe(2);
  expect(of(512)).toBeCloseTo((2 * (512 + 3 * 512)) / (3 * 512));
});

test('a model whose passages cannot be blended has none', async () => {
  const fixture = new ServiceFixture();
  const model = new FakeModel({ fingerprint: 'ab'.repeat(32), obstacle: 'running-state' });
  expect(await fixture.service.plan({ model, chunkTokens: 24 }, 'f16')).toBeNull();
});
