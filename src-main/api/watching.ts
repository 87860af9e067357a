import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function watchingHandlers({ watching }: App): HandlersOf<'watching'> {
  return {
    'watching.get': () => watching.status(),
    'watching.reset': ({ modelId, libraryId }) => watching.reset(modelId, libraryId),
  };
}
