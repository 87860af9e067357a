import type { HandlersOf } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';

export function settingsHandlers({ settings }: App): HandlersOf<'settings'> {
  return {
    'settings.get': () => settings.current,
    'settings.update': (changes) => settings.update(changes),
  };
}
