import { useTranslation } from 'react-i18next';
import type { SettingsChanges } from '../../../src-shared/settings.ts';
import { useAction } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';

/** Changes settings at once; a refusal is told, and the form shows the old value again. */
export function useChange(): (changes: SettingsChanges) => void {
  const { t } = useTranslation();
  const { mutate } = useAction('settings.update');
  return (changes) => mutate(changes, { onError: (error) => notifyFailure(error, t('error.title')) });
}
