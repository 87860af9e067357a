import { DeviceService } from '../devices/device-service.ts';
import { installedPacks, removeOtherReleases } from '../devices/packs/installed-packs.ts';
import { PackService } from '../devices/packs/pack-service.ts';
import { readPins } from '../devices/packs/pins.ts';
import { packageRegistry } from '../devices/packs/registry.ts';
import { askDevices } from '../devices/trial/ask-devices.ts';
import { packFiles } from '../engine/packs.ts';
import { LocalModels } from '../models/active-model.ts';
import { openModels } from '../models/open-models.ts';
import type { Disposables } from '../platform/disposables.ts';
import type { Base } from './base.ts';

export type Models = ReturnType<typeof openDevicesAndModels>;

/** GPUs and the models that are loaded on them. */
export function openDevicesAndModels(base: Base, own: Disposables) {
  const { paths, host, core, engine, store, version, onFound, onSetAside } = base;
  const { events, gate, log } = core;
  const pins = readPins(paths.packPins);
  for (const failure of removeOtherReleases(paths.packs, pins.release, log)) onFound(failure);
  const devices = own.add(
    new DeviceService({
      ...core,
      engine,
      packs: installedPacks(host.packs ?? packFiles(), paths.packs, pins),
      path: paths.devices,
      version,
      demoModel: paths.demoModel,
      ask: host.askDevices ?? askDevices,
      onFound,
    }),
  );
  const packs = own.add(
    new PackService({
      events,
      log,
      pins,
      dir: paths.packs,
      registry: packageRegistry,
      isInstalled: (library) => devices.hasPack(library),
      onInstalled: (path) => devices.addPack(path),
    }),
  );
  const { tryFile, keyring } = host;
  const models = openModels({ ...core, engine, devices, paths, tryFile, keyring, onSetAside }, own);
  models.loader.onChange(({ model }) => (gate.atOnce = model.answersAtOnce));
  models.loader.beforeDispose((model) => store.forget(model));
  return { devices, packs, ...models, localModels: new LocalModels(models.loader) };
}
