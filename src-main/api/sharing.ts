import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function sharingHandlers({ sharing }: App): HandlersOf<'sharing'> {
  return {
    'sharing.info': () => sharing.info(),
    'sharing.setSecret': ({ name, secret }) => sharing.setSecret(name, secret),
    'sharing.test': () => sharing.test(),
  };
}
