import { join } from 'node:path';
import type { DeviceService } from '../devices/device-service.ts';
import type { Engine } from '../engine/engine.ts';
import type { Core } from '../platform/core.ts';
import type { QuarantinedDatabase } from '../platform/database.ts';
import type { Disposables } from '../platform/disposables.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Paths } from '../platform/paths.ts';
import { FileLoader } from './loader/file-loader.ts';
import { ModelLoader } from './loader/model-loader.ts';
import { recordSpeeds } from './loader/record-speeds.ts';
import { Trials } from './loader/trial/trials.ts';
import { tryFile, type TryFile } from './loader/trial/try-file.ts';
import type { Memory } from './registry/fit.ts';
import { KnownModels } from './registry/known-models.ts';
import { ModelFiles } from './registry/model-files.ts';
import { ModelList } from './registry/model-list.ts';
import { ModelRegistry } from './registry/model-registry.ts';
import { Downloads } from './sources/downloads/downloads.ts';
import { FoundModels } from './sources/found/found-models.ts';
import type { Place } from './sources/found/places.ts';
import { Hub } from './sources/hub/hub.ts';
import { HubToken } from './sources/hub/hub-token.ts';
import { hubFailure } from './sources/hub/refusals.ts';
import { ServerModels } from './sources/servers/server-models.ts';

export type ModelEngine = Pick<
  Engine,
  'inspect' | 'inspectAside' | 'fingerprint' | 'checkAdapter' | 'loadModel' | 'loadEmbedder' | 'devices'
>;

interface ModelsOptions extends Core {
  engine: ModelEngine;
  devices: Pick<DeviceService, 'current' | 'packs' | 'load' | 'onChange'>;
  paths: Pick<Paths, 'data' | 'demoModel' | 'startingPoints' | 'hubToken' | 'serverKeys'>;
  /** The system's keyring, for the hub token and server keys; if the host has one. */
  keyring?: Keyring | undefined;
  /** Memory of this machine in bytes. Default: from the system. */
  memory?: (() => Memory) | undefined;
  /** Tests files that libllama runs. Default: in another Node process. */
  tryFile?: TryFile | undefined;
  /** Folders where other programs keep models. Default: modelPlaces(). */
  places?: (() => Promise<Place[]>) | undefined;
  /** Called if the model list could not be read. */
  onSetAside?: ((what: QuarantinedDatabase) => void) | undefined;
}

/** Sets up the model list, the loader and the sources of models. STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
export function openModels(options: ModelsOptions, own: Disposables) {
  const { engine, devices, paths, keyring, settings, events, gate, log } = options;
  const registry = own.add(new ModelRegistry(join(paths.data, 'models.sqlite'), options.onSetAside));
  const { memory } = options;
  const known = new KnownModels({ registry, engine, devices, paths, settings, events, memory });
  const servers = new ServerModels({ registry, known, keysFile: paths.serverKeys, keyring });
  const trials = new Trials(registry.database, options.tryFile ?? tryFile);
  const files = new FileLoader({ engine, devices, known, registry, trials, settings, events, log });
  const loader = own.add(
    new ModelLoader({ files, servers, devices, known, registry, settings, events, gate, log }),
  );
  own.add({ close: recordSpeeds(loader, registry, events) });
  const folder = new ModelFiles(join(paths.data, 'models'));
  const models = new ModelList({ engine, known, registry, files: folder, servers, loader, log });
  const token = new HubToken({ path: paths.hubToken, keyring });
  const downloads = own.add(
    new Downloads({
      database: registry.database,
      files: folder,
      events,
      log,
      headers: (url) => token.headers(url),
      explain: (error, source) => hubFailure(error, source, token),
      onFinished: async (path, source) => {
        const { id } = await models.import(path, { downloaded: true });
        if (source) registry.setSource(id, source);
        return id;
      },
    }),
  );
  const hub = own.add(
    new Hub({
      settings,
      events,
      log,
      token,
      engine,
      known,
      registry,
      downloads,
      dir: folder.dir,
      startingPoints: paths.startingPoints,
    }),
  );
  devices.onChange(() => events.emit('hub.changed', {}));
  const foundModels = own.add(
    new FoundModels({
      engine,
      events,
      places: options.places,
      known,
      registry,
      add: (path, name) => models.import(path, { name }),
    }),
  );
  return { models, loader, downloads, hub, foundModels, servers, known, registry, trials };
}
