import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function calibrationHandlers({ calibration }: Pick<App, 'calibration'>): HandlersOf<'calibration'> {
  return {
    'calibration.get': () => calibration.status(),
    'calibration.run': (request) => calibration.run(request),
    'calibration.stop': () => calibration.stop(),
  };
}
