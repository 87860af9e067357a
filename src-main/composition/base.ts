import type { Failure } from '../../src-shared/contract/common.ts';
import type { SettingsInput } from '../../src-shared/settings.ts';
import { applyRestore } from '../backup/apply-restore.ts';
import { unlistedFailure } from '../cache/cache-folders.ts';
import { setAsideFailure } from '../databases.ts';
import type { AskDevices } from '../devices/trial/ask-devices.ts';
import { Engine } from '../engine/engine.ts';
import { DEFAULT_DISK_BUDGET } from '../kvstore/budget-proposal.ts';
import { ChunkStore, type SharedTier } from '../kvstore/store.ts';
import type { SpawnParser } from '../library/parser/spawn.ts';
import type { TryFile } from '../models/loader/trial/try-file.ts';
import type { SpawnChild } from '../platform/ask-child.ts';
import type { Core } from '../platform/core.ts';
import type { QuarantinedDatabase } from '../platform/database.ts';
import { Disposables } from '../platform/disposables.ts';
import { EventBus } from '../platform/event-bus.ts';
import { traceOf } from '../platform/failure.ts';
import { Gate } from '../platform/gate.ts';
import type { Keyring } from '../platform/keyring.ts';
import { fileLogger } from '../platform/logger.ts';
import { defaultDataDir, ensureWritableDir, resolvePaths } from '../platform/paths.ts';
import { makePrivate } from '../platform/private-data.ts';
import { programVersion } from '../platform/root.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { SharingService } from '../sharing/sharing-service.ts';

export interface AppOptions {
  /** The data folder. Default: the platform's convention. */
  dataDir?: string | undefined;
  /** Settings for this run only; they override the settings file. */
  overrides?: Partial<SettingsInput> | undefined;
  /** Starts the process that reads documents; for hosts with another way to start processes. */
  spawnParser?: SpawnParser | undefined;
  /** Starts the process that runs statements over tables; likewise. */
  spawnQuery?: SpawnChild | undefined;
  /** Tests model files in a separate process; likewise. */
  tryFile?: TryFile | undefined;
  /** Tests GPUs in a separate process; likewise. */
  askDevices?: AskDevices | undefined;
  /** Chunk files of other machines. Default: those in the shared folder or server that the settings name. */
  shared?: SharedTier | undefined;
  /** Pack files for GPUs. Default: those that setup has put here. */
  packs?: readonly string[] | undefined;
  /** The system's keyring, for hosts that have one. */
  keyring?: Keyring | undefined;
  /** Whether the machine runs on battery; for hosts that the system notifies. */
  onBattery?: (() => boolean) | undefined;
}

export type Base = Awaited<ReturnType<typeof openBase>>;

/** The data folder, the engine and the chunk store. BAD_ARGUMENT, ENGINE_FAILED, and errors of ChunkStore.open. */
export async function openBase(host: AppOptions) {
  const paths = resolvePaths(host.dataDir ?? defaultDataDir());
  ensureWritableDir(paths.data);
  makePrivate(paths.data);
  const { restored, failure } = applyRestore(paths.data, paths.store); // before anything is read
  const settings = new SettingsService(paths.settings, host.overrides);
  /** Startup problems, until a window takes them. */
  const found: Failure[] = failure ? [failure, ...settings.found] : [...settings.found];
  const forced = process.env['KVASIR_LOG'] === 'debug';
  const log = fileLogger(paths.log, () => (forced || settings.current.logAnswers ? 'debug' : 'info'));
  if (restored) log.info('restored-from-backup');
  const events = new EventBus((error) => log.error('listener-failed', { error: traceOf(error) }));
  settings.onChange((now) => events.emit('settings.changed', now));
  const core: Core = { settings, events, gate: new Gate(), log };
  const engine = Engine.open();
  const own = new Disposables(log);
  const sharing = new SharingService({
    settings,
    secrets: paths.sharingSecrets,
    keyring: host.keyring,
    log,
  });
  sharing.onChange(() => events.emit('sharing.changed', {}));
  const store = await ChunkStore.open({
    shared: host.shared ?? sharing,
    dir: paths.store,
    diskBudgetBytes: settings.current.diskBudgetBytes ?? DEFAULT_DISK_BUDGET,
    ramBudgetBytes: settings.current.memoryBudgetBytes,
    folders: settings.current.cacheFolders,
    policy: settings.current.eviction,
    files: engine,
    log,
  });
  found.push(...store.recovery.unlisted.map(unlistedFailure));
  own.add(store);
  own.add(sharing); // closed before the store, which waits for its reads
  return {
    paths,
    host,
    core,
    engine,
    sharing,
    store,
    found,
    own,
    version: programVersion(),
    onFound: (problem: Failure): void => void found.push(problem),
    onSetAside: (what: QuarantinedDatabase): void => void found.push(setAsideFailure(what)),
  };
}
