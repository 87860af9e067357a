import { basename } from 'node:path';
import type { ProfileInput } from '../../src-shared/contract/command.ts';
import type { DeviceService } from '../devices/device-service.ts';
import type { Engine, Model } from '../engine/engine.ts';
import type { Paths } from '../platform/paths.ts';
import type { SettingsService } from '../platform/settings-service.ts';
import type { ActiveModel } from './active-model.ts';
import type { Trials } from './loader/trial/trials.ts';
import { chooseModel } from './model-defaults.ts';
import { modelName, withAdapter } from './registry/entry.ts';
import type { ServerModel } from './sources/servers/server-model.ts';
import type { ServerModels } from './sources/servers/server-models.ts';

interface ChosenModelsOptions {
  engine: Engine;
  devices: DeviceService;
  trials: Trials;
  servers: ServerModels;
  settings: SettingsService;
  paths: Pick<Paths, 'demoModel'>;
  /** Releases what services hold of a model's memory. */
  beforeDispose: (model: Model | ServerModel) => Promise<void>;
}

/** Models that clients choose for themselves, next to the one in use; each is loaded once for all its users. */
export class ChosenModels {
  readonly #options: ChosenModelsOptions;
  readonly #loaded = new Map<string, { loading: Promise<Model | ServerModel>; users: number }>();

  constructor(options: ChosenModelsOptions) {
    this.#options = options;
  }

  /** The model, and a function that gives it back; `settings`: the client's. Errors of Engine.loadModel. */
  async take(
    { model: name, adapter }: Pick<ProfileInput, 'model' | 'adapter'>,
    settings: SettingsService,
  ): Promise<{ active: ActiveModel; giveBack: () => Promise<void> }> {
    const choice = chooseModel(name, this.#options.paths);
    const { path } = choice;
    const { threads } = settings.current;
    const key = JSON.stringify([path, adapter, threads]);
    const known = this.#loaded.get(key) ?? { loading: this.#load(path, adapter, threads), users: 0 };
    known.users++;
    this.#loaded.set(key, known);
    const giveBack = async (): Promise<void> => {
      if (--known.users > 0) return;
      this.#loaded.delete(key);
      const model = await known.loading.catch(() => undefined);
      if (!model) return;
      await this.#options.beforeDispose(model);
      model.dispose();
    };
    try {
      const model = await known.loading;
      const active: ActiveModel = {
        id: path,
        path,
        model,
        name: withAdapter(nameOf(path, model), adapter),
        chunkTokens: settings.current.chunkTokens ?? choice.chunkTokens(model.info),
      };
      return { active, giveBack };
    } catch (error) {
      await giveBack();
      throw error;
    }
  }

  async #load(path: string, adapter: string | undefined, threads: number): Promise<Model | ServerModel> {
    const { engine, devices, servers, trials, settings } = this.#options;
    const onServer = servers.find(path);
    if (onServer) return servers.load(onServer);
    const { conversationDtype: kvDtype, deviceBudgetBytes } = settings.current;
    const name = basename(path);
    await devices.settled();
    return devices.load(name, async (device) => {
      if (engine.inspect(path).engine === 'llama') {
        const { packs } = devices;
        await trials.require({ path, name, role: 'chat', threads, device, packs });
      }
      return engine.loadModel(path, { threads, device, kvDtype, adapter, deviceBudgetBytes });
    });
  }
}

function nameOf(path: string, { info }: Model | ServerModel): string {
  return info.obstacle === 'remote' ? info.name : modelName({ name: null, header: info, path });
}
