import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Failure } from '../../src-shared/contract/common.ts';
import { CostModel } from '../fusion/planning/cost-model.ts';
import type { Model } from '../engine/engine.ts';
import type { ActiveModel } from '../models/active-model.ts';
import { EventBus } from '../platform/event-bus.ts';
import { silentLogger } from '../platform/logger.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { Machine } from '../testing/machine.ts';
import { A, fill, hasFile, model, openTestStore, tempDir } from '../testing/store.ts';
import { CacheFolderService } from './cache-folders.ts';

const GB = 1e9;

/** The service over a store, with a model whose costs are known. */
async function folderService(data = tempDir()) {
  const settings = new SettingsService(join(data, 'settings.json'));
  const events = new EventBus();
  const machine = new Machine();
  const costs = new CostModel(join(data, 'costs.json'));
  for (const done of machine.profile()) costs.observe(machine.info, done);
  const store = await openTestStore({ dir: join(data, 'cache'), folders: settings.current.cacheFolders });
  const loaded = { info: machine.info, bytesPerToken: () => 100 } as unknown as Model;
  const active: ActiveModel<Model> = { ...{ id: 'm', name: 'M', path: '', chunkTokens: 256 }, model: loaded };
  const service = new CacheFolderService({
    ...{ store, settings, events, log: silentLogger, data, dir: join(data, 'cache'), models: { active } },
    planner: { costs, usualStrategy: () => ({ kind: 'query', questionLayers: [1], ratios: [0.15] }) },
    topK: () => 4,
  });
  onTestFinished(() => service.close());
  /** Replaces what was measured of a folder. */
  const runsAt = (id: string, bytesPerMs: number): void => {
    const tier = id === '' ? 'disk' : `disk:${id}`;
    for (let i = 0; i < 80; i++) {
      const bytes = i % 2 === 0 ? 1e4 : 1e6;
      costs.observeTransfer({ values: 1, bytes, ms: bytes / bytesPerMs }, tier);
    }
  };
  return { service, store, settings, events, data, costs, runsAt };
}

test('a folder is added, measured, changed and removed, and the settings and the store know', async () => {
  const { service, store, settings, costs } = await folderService();
  const disk = tempDir();
  const { folders } = await service.add({ path: disk, budgetBytes: 5 * GB, pricePerGb: 0.02 });
  const id = folders[1]?.id ?? '';
  expect(folders).toMatchObject([
    { id: '', state: 'ready', pricePerGb: null },
    { id, path: disk, state: 'ready', budgetBytes: 5 * GB, pricePerGb: 0.02, chunks: 0 },
  ]);
  expect(settings.current.cacheFolders).toEqual([{ id, path: disk, budgetBytes: 5 * GB, pricePerGb: 0.02 }]);
  await expect.poll(async () => (await service.list()).folders[1]?.bytesPerSecond ?? 0).toBeGreaterThan(0);
  expect(costs.bytesPerSecond(`disk:${id}`)).toBeGreaterThan(0);
  await service.change({ id, budgetBytes: GB, pricePerGb: null });
  expect(settings.current.cacheFolders).toEqual([{ id, path: disk, budgetBytes: GB }]);
  expect(store.stats().folders[1]).toMatchObject({ budgetBytes: GB });
  const removed = { moved: 0, deleted: 0, kept: { chunks: 0, bytes: 0 } };
  expect(await service.remove({ id, deletePinned: false })).toEqual(removed);
  expect(settings.current.cacheFolders).toEqual([]);
  expect(store.stats().folders).toHaveLength(1);
  expect(readdirSync(disk)).toEqual([]);
});

test('new chunks go to the cheapest folder that adds no delay, and the reason has the figures', async () => {
  const { service, store, settings, runsAt } = await folderService();
  const [big, tape] = [tempDir(), tempDir()];
  await service.add({ path: big, budgetBytes: GB, pricePerGb: 0.02 });
  const { folders } = await service.add({ path: tape, budgetBytes: GB, pricePerGb: 0.001 });
  const [, { id: bigId } = { id: '' }, { id: tapeId } = { id: '' }] = folders;
  const speeds = async () =>
    (await service.list()).folders.slice(1).map(({ bytesPerSecond }) => bytesPerSecond);
  await expect.poll(speeds).not.toContain(null);
  settings.update({ diskPricePerGb: 0.1 });
  const { computeMs } = (await service.list()).newChunks;
  // Four chunks of 256 tokens, 100 bytes each.
  const perMs = (4 * 256 * 100) / computeMs!;
  runsAt('', 100 * perMs);
  runsAt(bigId, 2 * perMs);
  runsAt(tapeId, perMs / 2);
  const list = await service.list();
  expect(list.newChunks).toMatchObject({ folder: bigId, reason: 'cheapest' });
  expect(list.folders.map(({ addsDelay }) => addsDelay)).toEqual([false, false, true]);
  expect(list.folders[1]?.loadMs).toBeCloseTo(computeMs! / 2, 1);
  const [key = ''] = await fill(store, 1);
  expect(store.entry(key)).toMatchObject({ folder: bigId });
  runsAt(bigId, perMs / 3);
  expect((await service.list()).newChunks).toMatchObject({ folder: '', reason: 'only' });
});

test('a folder that was added is there at the next start, and listed while it is not connected', async () => {
  const first = await folderService();
  const disk = tempDir();
  const { folders } = await first.service.add({ path: disk, budgetBytes: GB });
  const id = folders[1]?.id ?? '';
  first.store.folders.rankBy(() => [
    { id, addsDelay: false },
    { id: '', addsDelay: false },
  ]);
  await fill(first.store, 1);
  await first.service.close();
  await first.store.close();
  renameSync(join(disk, 'kvasir-cache'), join(disk, 'unplugged'));
  const { service, store } = await folderService(first.data);
  expect((await service.list()).folders[1]).toMatchObject({
    id,
    path: disk,
    state: 'not-connected',
    chunks: 1,
  });
  expect([store.has(A), store.isAway(A)]).toEqual([false, true]);
  renameSync(join(disk, 'unplugged'), join(disk, 'kvasir-cache'));
  await store.folders.check();
  expect((await service.list()).folders[1]).toMatchObject({ state: 'ready', chunks: 1 });
  expect(await store.acquire(A, model)).toBeDefined();
});

test('a folder whose removal could not be saved can be added again, and is listed once', async () => {
  const first = await folderService();
  const disk = tempDir();
  const { folders } = await first.service.add({ path: disk, budgetBytes: GB });
  vi.spyOn(first.settings, 'update').mockImplementationOnce(() => {
    throw new Error('EIO');
  });
  await expect(first.service.remove({ id: folders[1]?.id ?? '', deletePinned: false })).rejects.toThrow(
    'EIO',
  );
  await first.service.add({ path: disk, budgetBytes: GB });
  await first.service.close();
  await first.store.close();
  const { service, store } = await folderService(first.data);
  await store.folders.check();
  expect((await service.list()).folders.slice(1)).toMatchObject([{ path: disk, state: 'ready' }]);
});

test('another drive at the path of one that is away gets an entry beside it', async () => {
  const { service, store } = await folderService();
  const mount = tempDir();
  const { folders } = await service.add({ path: mount, budgetBytes: GB });
  const id = folders[1]?.id ?? '';
  store.folders.rankBy(() => [{ id, addsDelay: false }]);
  await fill(store, 1);
  renameSync(join(mount, 'kvasir-cache'), join(mount, 'unplugged'));
  await store.folders.check();
  await service.add({ path: mount, budgetBytes: GB });
  expect((await service.list()).folders.slice(1)).toMatchObject([
    { id, path: mount, state: 'not-connected', chunks: 1 },
    { path: mount, state: 'ready', chunks: 0 },
  ]);
});

test('a folder with pinned chunks that fit nowhere else stays in the settings', async () => {
  const { service, store, settings } = await folderService();
  const { folders } = await service.add({ path: tempDir(), budgetBytes: GB });
  const id = folders[1]?.id ?? '';
  store.folders.rankBy(() => [
    { id, addsDelay: false },
    { id: '', addsDelay: false },
  ]);
  await fill(store, 1);
  store.pin(A);
  await store.setBudget({ diskBytes: 0 });
  expect(await service.remove({ id, deletePinned: false })).toMatchObject({ kept: { chunks: 1 } });
  expect(settings.current.cacheFolders).toHaveLength(1);
  expect(await service.remove({ id, deletePinned: true })).toMatchObject({ deleted: 1, kept: { chunks: 0 } });
  expect(settings.current.cacheFolders).toEqual([]);
});

test('a folder left out of the settings is no longer used, its files stay, and a notice says so', async () => {
  const { service, store, settings, events } = await folderService();
  const notices: Failure[] = [];
  events.on((event) => {
    if (event.topic === 'app.notice') notices.push(event.payload.failure);
  });
  const disk = tempDir();
  const { folders } = await service.add({ path: disk, budgetBytes: GB });
  const id = folders[1]?.id ?? '';
  store.folders.rankBy(() => [
    { id, addsDelay: false },
    { id: '', addsDelay: false },
  ]);
  await fill(store, 2);
  store.pin(A);
  await store.setBudget({ diskBytes: 0 });
  settings.update({ cacheFolders: null });
  await expect.poll(() => store.stats().folders).toHaveLength(1);
  await expect
    .poll(() => notices)
    .toMatchObject([{ code: 'CACHE_FOLDER_UNLISTED', values: { chunks: '2', pinned: '1' } }]);
  expect(hasFile(join(disk, 'kvasir-cache'), A)).toBe(true);
  await service.add({ path: disk, budgetBytes: GB });
  expect(store.list({ pinned: true })).toMatchObject([{ key: A, folder: id, away: false }]);
});

test('an empty folder left out of the settings is no longer used without a notice', async () => {
  const { service, store, settings, events } = await folderService();
  const told: string[] = [];
  events.on(({ topic }) => void told.push(topic));
  await service.add({ path: tempDir(), budgetBytes: GB });
  settings.update({ cacheFolders: null });
  await expect.poll(() => store.stats().folders).toHaveLength(1);
  await service.close();
  expect(told).not.toContain('app.notice');
});

test('a folder that is in the data folder, is none, or was added before is refused', async () => {
  const { service, data } = await folderService();
  const disk = tempDir();
  await service.add({ path: disk, budgetBytes: GB });
  mkdirSync(join(data, 'inside'));
  for (const path of [disk, data, join(data, 'inside'), join(disk, 'none'), 'relative'])
    await expect(service.add({ path, budgetBytes: GB }), path).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
  const unknown = { id: '0'.repeat(16), deletePinned: false };
  await expect(service.remove(unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
