import type { Locator, Page } from '@playwright/test';
import { expect } from './test.ts';

/** Screens of the app, located without text of any language. */
export interface Place {
  name: string;
  open: (window: Page) => Promise<void>;
}

const LIBRARY_MENU = '[role=tablist] ~ button';

/** Dialogs, by the buttons that open them. Nothing in them is confirmed. */
const DIALOGS = [
  { name: 'help', path: '/', press: ['header button:has(.tabler-icon-keyboard)'] },
  {
    name: 'new project',
    path: '/',
    press: ['aside button:has(.tabler-icon-plus) >> nth=0', '[role=menuitem] >> nth=0'],
  },
  { name: 'new library', path: '/library', press: ['button:has(.tabler-icon-plus)'] },
  { name: 'rename a library', path: '/library/1', press: [LIBRARY_MENU, '[role=menuitem] >> nth=2'] },
  { name: 'delete a library', path: '/library/1', press: [LIBRARY_MENU, '[role=menuitem] >> nth=3'] },
  {
    name: 'add by path',
    path: '/library/1',
    press: ['button:has(.tabler-icon-dots) >> nth=0', '[role=menuitem]'],
  },
  {
    name: 'remove a document',
    path: '/library/1',
    press: ['[role=row] >> nth=1 >> input[type=checkbox]', 'button:has(.tabler-icon-trash)'],
  },
  { name: 'evict everything', path: '/cache', press: ['button >> nth=0'] },
  { name: 'download a model', path: '/models', press: ['button:has(.tabler-icon-download)'] },
  {
    name: 'import a model',
    path: '/models',
    press: ['button:has(.tabler-icon-plus)', '[role=menuitem] >> nth=1'],
  },
  {
    name: 'chunk size',
    path: '/settings',
    press: ['nav button >> nth=2', 'input[role=switch] >> nth=0'],
  },
] as const;

const SETTINGS = [
  'appearance',
  'answers',
  'documents',
  'tools',
  'engine',
  'sharing',
  'data',
  'about',
] as const;

/** Every screen and view with the state after first use: the sample library, and one answer with its report. */
export const PLACES: readonly Place[] = [
  { name: 'chat', open: (window) => route(window, '/') },
  { name: 'answer', open: openAnswer },
  { name: 'report', open: openReport },
  { name: 'comparison', open: openComparison },
  { name: 'library', open: (window) => route(window, '/library/1') },
  { name: 'library sources', open: (window) => view(window, '/library/1', 'tab', 1) },
  { name: 'document', open: (window) => route(window, '/document/1') },
  { name: 'document as it looks', open: (window) => view(window, '/document/1', 'radio', 0) },
  { name: 'document chunks', open: (window) => view(window, '/document/1', 'radio', 2) },
  { name: 'document sizes', open: (window) => view(window, '/document/1', 'radio', 3) },
  { name: 'search', open: openSearch },
  { name: 'analysis', open: (window) => route(window, '/analysis') },
  { name: 'analysis of questions', open: (window) => route(window, '/analysis/new?kind=questions') },
  { name: 'cache', open: (window) => route(window, '/cache') },
  { name: 'cache chunks', open: (window) => view(window, '/cache', 'table', 1) },
  { name: 'models', open: (window) => route(window, '/models') },
  { name: 'blending quality', open: openQuality },
  ...SETTINGS.map((name) => ({
    name: `settings ${name}`,
    open: (window: Page) => openSettings(window, name),
  })),
  { name: 'palette', open: openPalette },
  { name: 'conversation options', open: openOptions },
  ...DIALOGS.map(({ name, path, press }) => ({
    name,
    open: (window: Page) => openDialog(window, path, press),
  })),
];

export async function route(window: Page, path: string): Promise<void> {
  await window.evaluate((to) => (location.hash = to), path);
  await loaded(window);
}

async function loaded(window: Page): Promise<void> {
  await expect(window.locator('main [class*=Loader]')).toHaveCount(0);
}

async function openAnswer(window: Page): Promise<void> {
  await route(window, '/');
  await window.locator('aside a[href^="#/chat/"]').first().click();
  const parts = window.locator('main article');
  await expect(parts).toHaveCount(2);
  await unfold(parts.last().getByRole('group').first().locator('button[aria-expanded]').first());
}

async function openQuality(window: Page): Promise<void> {
  await route(window, '/models');
  await unfold(window.locator('main button[aria-expanded]:has(.tabler-icon-chevron-right)').last());
}

/** Expands what a button controls, unless it is already open. */
async function unfold(button: Locator): Promise<void> {
  if ((await button.getAttribute('aria-expanded')) === 'false') await button.click();
}

async function openReport(window: Page): Promise<void> {
  await openAnswer(window);
  // Without the strip below the answer there is no report to open by keyboard yet.
  await expect(window.locator('main article').last().getByRole('group').first()).toBeVisible();
  await window.keyboard.press('Control+.');
  await expect(window.locator('main canvas').first()).toBeVisible();
}

async function openComparison(window: Page): Promise<void> {
  await openReport(window);
  await window.locator('button:has(.tabler-icon-arrows-diff)').click();
  const start = window.locator('fieldset ~ div button');
  const ways = window.locator('main aside article');
  await expect(ways.or(start).first()).toBeVisible();
  if (await start.isVisible()) {
    await window.locator('fieldset ~ div input[type=checkbox]').check();
    await start.click();
  }
  // Three methods, plus the answer's own if it is not one of them.
  await expect(ways.nth(2)).toBeVisible({ timeout: 200_000 });
}

async function view(
  window: Page,
  path: string,
  role: 'tab' | 'radio' | 'table',
  index: number,
): Promise<void> {
  await route(window, path);
  if (role === 'tab') await window.getByRole('tab').nth(index).click();
  else {
    const group = window.getByRole('radiogroup').nth(role === 'table' ? 1 : 0);
    await group.locator('label').nth(index).click();
  }
  await loaded(window);
}

async function openSearch(window: Page): Promise<void> {
  await route(window, '/search');
  await window.locator('main input[type=search]').fill('Project Polaris');
  await expect(window.locator('[data-hit]').first()).toBeVisible();
}

export async function openSettings(window: Page, section: (typeof SETTINGS)[number]): Promise<void> {
  await route(window, '/settings');
  await window.locator('main nav button').nth(SETTINGS.indexOf(section)).click();
}

/** A previous dialog, or the menu it was chosen from, may still be closing. */
async function oneDialog(window: Page): Promise<void> {
  await expect(window.getByRole('dialog')).toHaveCount(1);
  await expect(window.locator('[role=menu]')).toHaveCount(0);
}

async function openPalette(window: Page): Promise<void> {
  await route(window, '/');
  await window.keyboard.press('Control+K');
  await oneDialog(window);
}

async function openOptions(window: Page): Promise<void> {
  await route(window, '/');
  await window.locator('main button:has(.tabler-icon-adjustments-horizontal)').click();
  await oneDialog(window);
}

async function openDialog(window: Page, path: string, press: readonly string[]): Promise<void> {
  await route(window, path);
  for (const what of press) {
    const root = what.startsWith('[role=menuitem]') ? window : window.getByRole('main');
    await root.locator(what).first().click();
  }
  await oneDialog(window);
}
