import {
  IconBooks,
  IconCpu,
  IconDatabase,
  IconListSearch,
  IconMessages,
  IconSearch,
  IconSettings,
  type Icon,
} from '@tabler/icons-react';
import { lazy, type ComponentType } from 'react';

export interface Screen {
  name: 'chat' | 'library' | 'search' | 'analysis' | 'cache' | 'models' | 'settings';
  /** Target of the navigation entry. */
  path: string;
  /** wouter patterns of the addresses it handles. */
  routes: readonly string[];
  icon: Icon;
  component: ComponentType;
}

/** Every screen, in navigation order. Each is loaded when first shown. */
export const SCREENS: readonly Screen[] = [
  {
    name: 'chat',
    path: '/',
    routes: ['/', '/chat/:id'],
    icon: IconMessages,
    component: lazy(() => import('./ChatPage.tsx')),
  },
  {
    name: 'library',
    path: '/library',
    routes: ['/library', '/library/:id', '/document/:id'],
    icon: IconBooks,
    component: lazy(() => import('../features/library/LibraryScreen.tsx')),
  },
  {
    name: 'search',
    path: '/search',
    routes: ['/search'],
    icon: IconSearch,
    component: lazy(() => import('../features/search/SearchScreen.tsx')),
  },
  {
    name: 'analysis',
    path: '/analysis',
    routes: ['/analysis', '/analysis/:id'],
    icon: IconListSearch,
    component: lazy(() => import('../features/analysis/AnalysisScreen.tsx')),
  },
  {
    name: 'cache',
    path: '/cache',
    routes: ['/cache'],
    icon: IconDatabase,
    component: lazy(() => import('../features/cache/CacheScreen.tsx')),
  },
  {
    name: 'models',
    path: '/models',
    routes: ['/models', '/models/discover', '/models/discover/*'],
    icon: IconCpu,
    component: lazy(() => import('../features/models/ModelsScreen.tsx')),
  },
  {
    name: 'settings',
    path: '/settings',
    routes: ['/settings'],
    icon: IconSettings,
    component: lazy(() => import('../features/settings/SettingsScreen.tsx')),
  },
];
