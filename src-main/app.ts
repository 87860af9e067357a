import { join } from 'node:path';
import type { Failure } from '../src-shared/contract/common.ts';
import { KvasirError } from '../src-shared/errors.ts';
import { Catalogue } from './catalogue/catalogue.ts';
import { openAnswers } from './composition/answers.ts';
import { openBase, type AppOptions, type Base } from './composition/base.ts';
import { openDocuments, openTables } from './composition/documents.ts';
import { openDevicesAndModels } from './composition/models.ts';
import { openMcpServers } from './composition/tools.ts';
import { damagedFailure, RECUT, SCHEMAS } from './databases.ts';
import { removeLeftovers } from './leftovers.ts';
import { isAborted } from './platform/abort.ts';
import { findDamage } from './platform/damaged-database.ts';
import { Disposables } from './platform/disposables.ts';
import { traceOf } from './platform/failure.ts';
import { heapAtRest } from './platform/heap-at-rest.ts';
import { ChosenModels } from './models/chosen-models.ts';
import type { Profile } from './profile.ts';

/** All of Kvasir except its hosts. */
export type App = Awaited<ReturnType<typeof open>>;
export const App = { open };

/** BAD_ARGUMENT, ENGINE_FAILED, STORE_READ_ONLY, STORE_IN_USE, STORE_VERSION, STORE_CORRUPT, DISK_FULL. */
async function open(options: AppOptions = {}) {
  const base = await openBase(options);
  const { paths, core, engine, sharing, store, version, found, own } = base;
  try {
    const services = await openWithRoom(base);
    removeLeftovers(paths.data, (path) => services.downloads.isPart(path), core.log);
    for (const each of found) core.log.error('found-at-start', { ...each });
    let started = false;
    return {
      ...core,
      paths,
      engine,
      sharing,
      store,
      version,
      ...services,
      /** Problems found at startup that no window has taken. */
      found: found as readonly Failure[],
      /** Takes the startup problems that a person must know: damaged data that was set aside. Only one window gets them. */
      takeFound: () => found.splice(0),
      /**
       * Starts background work: loads the models in use, watches folders, resumes the queue. Not for single commands.
       * Idempotent; called by whoever shows a window or serves programs.
       */
      start(): void {
        if (!started) startWork(base, services);
        started = true;
      },
      /** Stops background work, frees models, closes the store. A failure does not prevent the rest. */
      close: () => own.close(),
    };
  } catch (error) {
    await own.close().catch(() => undefined); // logged
    throw error;
  }
}

type Services = ReturnType<typeof openServices>;

/** In this order, each with what it needs of those before it; closed in reverse. */
function openServices(base: Base, own: Disposables) {
  const catalogue = own.add(Catalogue.open(base.paths.catalogue, base.onSetAside));
  if (catalogue.isRecut) base.onFound(RECUT);
  const models = openDevicesAndModels(base, own);
  const tables = openTables(base, catalogue, own);
  const mcpServers = openMcpServers(base, own);
  const answers = openAnswers(base, catalogue, models, tables, mcpServers, own);
  const documents = openDocuments(base, catalogue, models, answers, own);
  const { core, paths, engine, store } = base;
  const chosenModels = new ChosenModels({
    ...models,
    settings: core.settings,
    paths,
    engine,
    beforeDispose: (model) => store.forget(model),
  });
  /** All that are open; the app closes what their clients have not. */
  const profiles = new Set<Profile>();
  own.add({ close: () => Promise.all([...profiles].map((profile) => profile.close())) });
  return { ...models, ...answers, ...documents, mcpServers, tables, catalogue, chosenModels, profiles };
}

/** What is freed meanwhile is used again for the next answers; without an end, a long life would hold more and more. */
const RELEASE_MS = 30_000;

/** Space for the databases' logs. */
const ROOM_BYTES = 64 * 2 ** 20;

/** Databases cannot be opened on a full disk. The cache can be recomputed, so chunks are evicted to make room. */
async function openWithRoom(base: Base): Promise<Services> {
  const { store, own, core } = base;
  for (let hasRoom = false; ; hasRoom = true) {
    const services = new Disposables(core.log);
    try {
      return openServices(base, own.add(services));
    } catch (error) {
      await services.close().catch(() => undefined); // logged
      if (hasRoom || !(error instanceof KvasirError && error.code === 'DISK_FULL')) throw error;
      const { entries, bytes } = await store.evict({ bytes: ROOM_BYTES });
      if (entries === 0) throw error;
      core.log.warn('cache-made-room', { entries, bytes });
    }
  }
}

function startWork(base: Base, services: Services): void {
  const { core, engine, store, sharing, own } = base;
  const { loader, devices, searches, downloads, libraries, models, watching, firstUse } = services;
  firstUse.start();
  downloads.start();
  void models.adopt();
  loader.start();
  searches.start();
  // Not while the model is loading, which would distort the measurement.
  void loader
    .current()
    .catch(() => undefined)
    .then(() => devices.start());
  if (!core.settings.current.welcomed) void findModels(base, services);
  libraries.start();
  watching.start();
  sharing.shareStored(store);
  const check = new AbortController();
  own.add({ close: () => check.abort() });
  void checkDatabases(base, check.signal);
  const collect = heapAtRest();
  const releasing = setInterval(() => {
    collect();
    void engine.releaseMemory();
  }, RELEASE_MS).unref();
  own.add({ close: () => clearInterval(releasing) });
}

/** Runs before the first question: the first screen offers suggestions. */
async function findModels({ core }: Base, { foundModels }: Services): Promise<void> {
  try {
    await foundModels.search();
  } catch (error) {
    if (!isAborted(error)) core.log.warn('models-not-found', { error: traceOf(error) });
  }
}

/** Checks databases that are too large to be read at every start. */
async function checkDatabases({ paths, core }: Base, signal: AbortSignal): Promise<void> {
  for (const name of Object.keys(SCHEMAS)) {
    const path = join(paths.data, name);
    try {
      const damage = await findDamage(path, signal);
      if (damage === undefined) continue;
      core.log.error('database-damaged', { path, damage });
      core.events.emit('app.notice', { level: 'error', failure: damagedFailure(path) });
    } catch (error) {
      core.log.warn('database-not-checked', { path, error: traceOf(error) });
    }
  }
}
