import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function deviceHandlers({ devices, packs }: App): HandlersOf<'devices'> {
  return {
    'devices.get': () => devices.status(),
    'devices.test': () => devices.test(),
    'devices.offers': () => packs.offers(),
    'devices.fetchPack': ({ pack }) => packs.fetch(pack),
    'devices.cancelPack': ({ pack }) => packs.cancel(pack),
  };
}
