import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { lazy, Suspense } from 'react';
import { Router } from 'wouter';
import type { Client } from '../client/client.ts';
import { ClientProvider } from '../client/context.tsx';
import { cssVariables, styleNonce, theme } from '../ui/theme.ts';
import { CoreEvents } from './CoreEvents.tsx';
import { useHashLocation } from './hash-location.ts';
import { Palette } from './Palette.tsx';
import { Preferences } from './Preferences.tsx';
import { Shell } from './Shell.tsx';

const OpenedFiles = lazy(() => import('../features/library/OpenedFiles.tsx'));

export function App({ client }: { client: Client }) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <ClientProvider client={client}>
        <Router hook={useHashLocation}>
          <ModalsProvider>
            <Preferences />
            <CoreEvents />
            <Notifications position="bottom-right" />
            <Palette />
            <Shell />
            <Suspense fallback={null}>
              <OpenedFiles />
            </Suspense>
          </ModalsProvider>
        </Router>
      </ClientProvider>
    </MantineProvider>
  );
}
