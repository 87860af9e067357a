import { useMantineColorScheme } from '@mantine/core';
import { useEffect } from 'react';
import { useCall } from '../client/context.tsx';
import { languageFor, setLanguage } from '../i18n/i18n.ts';

/** Applies theme and language from the settings. */
export function Preferences() {
  const { data: settings } = useCall('settings.get');
  const { setColorScheme } = useMantineColorScheme();
  const theme = settings?.theme;
  const language = settings?.language;
  useEffect(() => {
    if (theme) setColorScheme(theme === 'system' ? 'auto' : theme);
  }, [theme, setColorScheme]);
  useEffect(() => {
    if (language) void setLanguage(languageFor(language));
  }, [language]);
  return null;
}
