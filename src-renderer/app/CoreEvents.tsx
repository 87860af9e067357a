import i18next from 'i18next';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useCall, useEvent } from '../client/context.tsx';
import { notifyFailure, notifyInfo } from '../ui/notify.tsx';

/** Handles core events that belong to no particular screen. */
export function CoreEvents() {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  useEvent('app.notice', ({ level, failure }) => {
    if (level === 'info') notifyInfo(failure.message);
    else notifyFailure(failure, t(level === 'error' ? 'error.title' : 'notice'));
  });
  const { data: found } = useCall('app.found');
  useEffect(() => {
    for (const failure of found ?? []) notifyFailure(failure, i18next.t('notice'));
  }, [found]); // only once, even if the language changes
  useEvent('app.open', ({ route }) => {
    if (route !== '') navigate(route);
  });
  return null;
}
