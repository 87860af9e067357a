import type { Handlers } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function settingsHandlers({ settings }: App): Pick<Handlers, 'settings.get' | 'settings.update'> {
  return {
    'settings.get': () => settings.current,
    'settings.update': (changes) => settings.update(changes),
  };
}
