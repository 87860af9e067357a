import { MantineProvider, mergeThemeOverrides } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Router } from 'wouter';
import type { Client } from '../client/client.ts';
import { ClientProvider } from '../client/context.tsx';
import { OpenedFiles } from '../features/library/OpenedFiles.tsx';
import { cssVariables, styleNonce, theme } from '../ui/theme.ts';
import { CoreEvents } from './CoreEvents.tsx';
import { useHashLocation } from './hash-location.ts';
import { Palette } from './Palette.tsx';
import { Preferences } from './Preferences.tsx';
import { Shell } from './Shell.tsx';

/** Keeps notifications clear of the composer, in pixels. */
const ABOVE_COMPOSER = 104;

export function App({ client }: { client: Client }) {
  const { t } = useTranslation();
  const close = t('action.close');
  // Close buttons need an accessible name, in dialogs too.
  const named = useMemo(
    () =>
      mergeThemeOverrides(theme, {
        components: { CloseButton: { defaultProps: { 'aria-label': close } } },
      }),
    [close],
  );
  return (
    <MantineProvider
      theme={named}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <ClientProvider client={client}>
        <Router hook={useHashLocation}>
          <ModalsProvider>
            <Preferences />
            <CoreEvents />
            <Notifications position="bottom-right" mb={ABOVE_COMPOSER} />
            <Palette />
            <Shell />
            <OpenedFiles />
          </ModalsProvider>
        </Router>
      </ClientProvider>
    </MantineProvider>
  );
}
