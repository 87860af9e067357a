import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, expect, type BrowserContext, type Page } from '@playwright/test';
import { keepToHalf } from '../../../tools/checks/halves.ts';
import { CHROMIUM, NO_BROWSER } from './browsers.ts';
import type { Settings } from '../../../src-shared/settings.ts';
import { madeOnce } from '../../../tools/checks/ready-data.ts';
import { NO_MODELS, startApp, temporaryFolder, type RunningApp } from './app.ts';

/** Timeout for precomputing the sample library on a busy machine. */
export const COMPUTED_MS = 240_000;

interface Fixtures {
  /** Skips every test before it starts anything if there is no browser. */
  browserAtHand: undefined;
  /** Whether this test's own app starts empty, as on first start, and has to compute the sample library. */
  fresh: boolean;
  /** Its data folder. */
  dataDir: string;
  /** Its initial settings, if a test depends on them. */
  settings: Partial<Settings>;
  /** The home folder searched for models of other apps. */
  modelsHome: string;
  /** An app used by this test only. */
  app: RunningApp;
  /** Its window. */
  window: Page;
  /** A window of the shared app, for tests that can use one that others have used before. */
  sharedWindow: Page;
}

interface WorkerFixtures {
  /** Its half of the cores, for its apps and browsers. */
  halfOfCores: undefined;
  /**
   * Data of an app that has precomputed the sample library and calibrated the model: other apps start with a copy instead of doing it
   * again, beside the test.
   */
  readyData: string;
  sharedApp: RunningApp;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  browserAtHand: [
    async ({}, use) => {
      test.skip(CHROMIUM === undefined, NO_BROWSER);
      await use(undefined);
    },
    { auto: true },
  ],
  halfOfCores: [
    async ({}, use, { parallelIndex }) => {
      await keepToHalf(parallelIndex % 2);
      await use(undefined);
    },
    { auto: true, scope: 'worker' },
  ],
  readyData: [
    async ({ browser }, use) => {
      const make = async (data: string): Promise<void> => {
        const app = await startApp(data);
        const context = await browser.newContext({ locale: 'en-US' });
        try {
          const window = await openWindow(app, context);
          await allComputed(app, window);
          await calibrated(window);
        } finally {
          await context.close();
          await app.stop();
        }
      };
      await use(await madeOnce(make));
    },
    { scope: 'worker', timeout: 2 * COMPUTED_MS },
  ],
  fresh: [false, { option: true }],
  dataDir: async ({ fresh, readyData }, use) => {
    const folder = temporaryFolder();
    if (!fresh) cpSync(readyData, folder.path, { recursive: true });
    await use(folder.path);
    folder.remove();
  },
  settings: [{}, { option: true }],
  modelsHome: [NO_MODELS, { option: true }],
  app: async ({ dataDir, settings, modelsHome }, use) => {
    writeFileSync(join(dataDir, 'settings.json'), JSON.stringify(settings));
    const app = await startApp(dataDir, [], modelsHome);
    await use(app);
    await app.stop();
  },
  window: async ({ app, context }, use) => {
    await withWindow(app, context, use);
  },
  sharedApp: [
    async ({ readyData }, use) => {
      const folder = temporaryFolder();
      cpSync(readyData, folder.path, { recursive: true });
      const app = await startApp(folder.path);
      await use(app);
      await app.stop();
      folder.remove();
    },
    { scope: 'worker' },
  ],
  sharedWindow: async ({ sharedApp, context }, use) => {
    await withWindow(sharedApp, context, async (window) => {
      await allComputed(sharedApp, window);
      await use(window);
      await removeOwnLibraries(window);
    });
  },
});

export { expect } from '@playwright/test';

/** Opens the app in a window; any error thrown in it fails the test. */
async function withWindow(
  app: RunningApp,
  context: BrowserContext,
  use: (window: Page) => Promise<void>,
): Promise<void> {
  const errors: string[] = [];
  context.on('weberror', (error) => errors.push(error.error().message));
  await use(await openWindow(app, context));
  expect(errors, 'errors thrown in the window').toEqual([]);
}

/** Another window of the app. The printed URL works for one browser; its session is reused for the next window. */
export async function openWindow(app: RunningApp, context: BrowserContext): Promise<Page> {
  const window = await context.newPage();
  const session = sessions.get(app);
  if (session) await context.addCookies(session.cookies);
  await window.goto(session?.home ?? app.url);
  if (!session) sessions.set(app, { home: homeOf(window), cookies: await context.cookies(window.url()) });
  await expect(navigation(window)).toBeVisible();
  return window;
}

/** The address of a window without the route: the path is secret, so only a window knows it. */
export function homeOf(window: Page): string {
  return window.url().split('#')[0] ?? '';
}

interface Session {
  home: string;
  cookies: Awaited<ReturnType<BrowserContext['cookies']>>;
}

const sessions = new WeakMap<RunningApp, Session>();

/** "All libraries" covers only the sample library if there is no other, so libraries added by tests are deleted. */
async function removeOwnLibraries(window: Page): Promise<void> {
  if (window.isClosed() || !window.url().startsWith('http')) return;
  const libraries = (await call(window, 'libraries.list', {})) as { id: string; sample: boolean }[];
  for (const { id, sample } of libraries) if (!sample) await call(window, 'libraries.delete', { id });
}

/** Waits for the calibration that the app starts once the sample library is ready. */
async function calibrated(window: Page): Promise<void> {
  const status = () => call(window, 'calibration.get', {}) as Promise<{ calibrations: unknown[] }>;
  await expect.poll(status, { timeout: COMPUTED_MS }).not.toMatchObject({ calibrations: [] });
}

/** Calls the core as the window does, by another connection of its page; rejects if the core refuses. */
export function call(window: Page, name: string, input: object): Promise<unknown> {
  return window.evaluate(
    async ([home, request]) => {
      const socket = new WebSocket(new URL('./socket', home.replace('http', 'ws')));
      await new Promise((resolve) => socket.addEventListener('open', resolve));
      const { data, error } = await new Promise<{ data?: unknown; error?: object }>((resolve) => {
        socket.addEventListener('message', ({ data: text }) => {
          const reply = JSON.parse(String(text)) as { id?: number; data?: unknown; error?: object };
          if (reply.id === 1) resolve(reply);
        });
        socket.send(request);
      });
      socket.close();
      if (error) throw new Error(`${request} failed: ${JSON.stringify(error)}`);
      return data;
    },
    [homeOf(window), JSON.stringify({ id: 1, name, input })] as const,
  );
}

/** Waits until the sample library is cached: earlier questions are answered, but not from caches. */
async function allComputed(app: RunningApp, window: Page): Promise<void> {
  if (computed.has(app)) return;
  const ready = window.getByRole('list', { name: 'What is ready' });
  await expect(ready).toContainText('Everything is precomputed', { timeout: COMPUTED_MS });
  computed.add(app);
}

const computed = new WeakSet<RunningApp>();

function navigation(window: Page) {
  return window.getByRole('navigation', { name: 'Main' });
}

/** Opens a screen through the navigation, as a user does. */
export async function goTo(window: Page, screen: string): Promise<void> {
  await navigation(window).getByRole('link', { name: screen }).click();
}
