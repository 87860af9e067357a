import { Alert, Center, Kbd, Loader, Tooltip, UnstyledButton } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { IconCommand, IconPlugConnectedX } from '@tabler/icons-react';
import { Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Route, Switch, useLocation } from 'wouter';
import { useConnection } from '../client/context.tsx';
import { ErrorBoundary } from './ErrorBoundary.tsx';
import { SCREENS, type Screen } from './screens.ts';
import classes from './Shell.module.css';

/** The window's frame: navigation on the left, the current screen next to it. */
export function Shell() {
  const { t } = useTranslation();
  const connection = useConnection();
  const [location] = useLocation();
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#content" onClick={focusContent}>
        {t('skipToContent')}
      </a>
      <Navigation location={location} />
      <main id="content" tabIndex={-1} className={classes.main}>
        {connection !== 'open' && (
          <Alert color="orange" radius={0} icon={<IconPlugConnectedX />} role="status">
            {t(`connection.${connection}`)}
          </Alert>
        )}
        <ErrorBoundary location={location}>
          <Suspense
            fallback={
              <Center>
                <Loader aria-label={t('loading')} />
              </Center>
            }
          >
            <Switch>
              {SCREENS.flatMap(({ name, routes, component: Screen }) =>
                // One key per screen: navigating between its addresses keeps its state.
                routes.map((path) => (
                  <Route key={name} path={path}>
                    <Screen />
                  </Route>
                )),
              )}
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </main>
    </div>
  );
}

function Navigation({ location }: { location: string }) {
  const { t } = useTranslation();
  return (
    <nav className={classes.nav} aria-label={t('nav.label')}>
      <img src="./icon.svg" alt={t('appName')} width={34} height={34} className={classes.logo} />
      {SCREENS.map((screen) => (
        <NavigationLink key={screen.name} screen={screen} active={isAt(screen, location)} />
      ))}
      <Tooltip
        position="right"
        label={
          <>
            {t('palette.open')} <Kbd size="xs">Ctrl K</Kbd>
          </>
        }
      >
        <UnstyledButton
          className={`${classes.link ?? ''} ${classes.last ?? ''}`}
          aria-label={t('palette.open')}
          onClick={spotlight.open}
        >
          <IconCommand size={22} stroke={1.6} aria-hidden />
        </UnstyledButton>
      </Tooltip>
    </nav>
  );
}

function NavigationLink({ screen, active }: { screen: Screen; active: boolean }) {
  const { t } = useTranslation();
  return (
    <Link href={screen.path} className={classes.link} aria-current={active ? 'page' : undefined}>
      <screen.icon size={22} stroke={1.6} aria-hidden />
      <span className={classes.label}>{t(`nav.${screen.name}`)}</span>
    </Link>
  );
}

/** The hash belongs to the router, so a click moves the focus to the screen's main element (or to the one it marks). */
function focusContent(event: React.MouseEvent): void {
  event.preventDefault();
  const content = document.getElementById('content');
  (content?.querySelector<HTMLElement>('[data-skip-here]') ?? content)?.focus();
}

function isAt({ routes }: Screen, location: string): boolean {
  const first = (path: string) => path.split('/')[1] ?? '';
  return routes.some((route) => first(route) === first(location));
}
