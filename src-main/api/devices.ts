import type { Handlers, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function deviceHandlers({
  devices,
  packs,
}: App): Pick<Handlers, Extract<ProcedureName, `devices.${string}`>> {
  return {
    'devices.get': () => devices.status(),
    'devices.test': () => devices.test(),
    'devices.offers': () => packs.offers(),
    'devices.fetchPack': ({ pack }) => packs.fetch(pack),
    'devices.cancelPack': ({ pack }) => packs.cancel(pack),
  };
}
