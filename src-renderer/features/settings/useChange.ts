import type { SettingsChanges } from '../../../src-shared/settings.ts';
import { useAction } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';

/** Saves settings immediately; on failure, shows a notification and restores the old value. */
export function useChange(): (changes: SettingsChanges) => void {
  const { mutate } = useAction('settings.update');
  return (changes) => mutate(changes, { onError: notifyFailure });
}
