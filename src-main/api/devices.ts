import type { Handlers, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function deviceHandlers({
  devices,
}: App): Pick<Handlers, Extract<ProcedureName, `devices.${string}`>> {
  return {
    'devices.get': () => devices.status(),
    'devices.test': () => devices.test(),
  };
}
