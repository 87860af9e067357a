import type { Handlers } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function watchingHandlers({ watching }: App): Pick<Handlers, 'watching.get' | 'watching.reset'> {
  return {
    'watching.get': () => watching.status(),
    'watching.reset': ({ modelId, libraryId }) => watching.reset(modelId, libraryId),
  };
}
