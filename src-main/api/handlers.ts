import type { Handlers } from '../../src-shared/contract/contract.ts';
import type { App } from '../app.ts';
import type { Profile } from '../profile.ts';
import type { HostServices } from './host.ts';
import { analysisHandlers } from './analysis.ts';
import { appHandlers } from './app.ts';
import { cacheHandlers } from './cache.ts';
import { calibrationHandlers } from './calibration.ts';
import { chatHandlers } from './chat.ts';
import { deviceHandlers } from './devices.ts';
import { libraryHandlers, readHandlers } from './libraries.ts';
import { modelHandlers, modelInUse } from './models.ts';
import { searchHandlers } from './search.ts';
import { settingsHandlers } from './settings.ts';
import { sharingHandlers } from './sharing.ts';
import { toolHandlers } from './tools.ts';
import { watchingHandlers } from './watching.ts';

/** The handlers for a window's calls: `app`'s services, and `host` for whatever depends on the host. */
export function createHandlers(app: App, host: HostServices): Handlers {
  return {
    ...appHandlers(app, host),
    ...settingsHandlers(app),
    ...searchHandlers(app),
    ...chatHandlers(app),
    ...libraryHandlers(app),
    ...modelHandlers(app),
    ...deviceHandlers(app),
    ...cacheHandlers(app),
    ...calibrationHandlers(app),
    ...analysisHandlers(app),
    ...sharingHandlers(app),
    ...toolHandlers(app),
    ...watchingHandlers(app),
  };
}

/** The handlers for a client with a profile: what depends on model and settings goes to the profile's services. */
export function createProfileHandlers(app: App, host: HostServices, profile: Profile): Handlers {
  const { chat, analysis, calibration, search, models, settings, events } = profile;
  const { prefetcher, libraries } = app;
  return {
    ...createHandlers(app, host),
    ...searchHandlers({ search, loader: models }),
    ...chatHandlers({ chat, prefetcher }),
    ...analysisHandlers({ analysis }),
    ...calibrationHandlers({ calibration }),
    ...readHandlers({ libraries, loader: models, settings, events }),
    'app.found': () => [...profile.found],
    'settings.get': () => settings.current,
    'models.current': () => modelInUse(models),
  };
}
