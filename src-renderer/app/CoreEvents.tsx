import i18next from 'i18next';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useCall, useEvent } from '../client/context.tsx';
import { notifyFailureAs, notifyInfo } from '../ui/notify.tsx';

/** Handles core events that belong to no particular screen. */
export function CoreEvents() {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  useEvent('app.notice', ({ level, failure }) => {
    if (level === 'info') notifyInfo(failure.message);
    else notifyFailureAs(t(level === 'error' ? 'error.title' : 'notice'), failure);
  });
  const { data: found } = useCall('app.found');
  useEffect(() => {
    for (const failure of found ?? []) notifyFailureAs(i18next.t('notice'), failure);
  }, [found]); // only once, even if the language changes
  useEvent('app.open', ({ route }) => {
    if (route !== '') navigate(route);
  });
  return null;
}
