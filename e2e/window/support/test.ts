import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, expect, type BrowserContext, type Page, type WebError } from '@playwright/test';
import { keepToHalf } from '../../../tools/checks/halves.ts';
import { CHROMIUM, NO_BROWSER } from './browsers.ts';
import type { Settings } from '../../../src-shared/settings.ts';
import { madeOnce } from '../../../tools/checks/ready-data.ts';
import { NO_MODELS, startApp, temporaryFolder, type RunningApp } from './app.ts';

/** Timeout for precomputing the sample library on a busy machine. */
export const COMPUTED_MS = 240_000;

/** For tests of models and long documents: without room for KV and with a fixed strategy, nothing is computed or measured beside them. */
export const NO_BACKGROUND_WORK = {
  diskBudgetBytes: 0,
  strategy: { name: 'deviation', ratio: 0.15 },
} satisfies Partial<Settings>;

interface Fixtures {
  /** Skips every test before it starts anything if there is no browser. */
  browserAtHand: undefined;
  /** Whether this test's own app starts empty, as on first start, and has to compute the sample library. */
  fresh: boolean;
  /** Its data folder. */
  dataDir: string;
  /** Its initial settings, or those of the shared app during the test, if a test depends on them. */
  settings: Partial<Settings>;
  /** The home folder searched for models of other apps. */
  modelsHome: string;
  /** An app used by this test only. */
  app: RunningApp;
  /** Its window. */
  window: Page;
  /** The window of the shared app, at the chat, for tests that can use one that others have used before. */
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
  /** Its window, which stays open: to load one takes as much CPU as many a test. */
  openedWindow: Page;
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
          await allComputed(window);
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
  context: async ({ context }, use, testInfo) => {
    await use(context);
    // Playwright takes a screenshot of each page that is open when its context is closed.
    const isGood = testInfo.status === testInfo.expectedStatus;
    if (isGood) for (const page of context.pages()) await page.close();
  },
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
    await withoutErrors(context, async () => use(await openWindow(app, context)));
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
  openedWindow: [
    async ({ sharedApp, browser }, use, { project }) => {
      const { locale = 'en-US', actionTimeout = 0 } = project.use;
      const context = await browser.newContext({ locale });
      context.setDefaultTimeout(actionTimeout);
      const window = await openWindow(sharedApp, context);
      await allComputed(window);
      await use(window);
      await context.close();
    },
    { scope: 'worker', timeout: COMPUTED_MS },
  ],
  sharedWindow: async ({ openedWindow: window, viewport, settings }, use) => {
    if (viewport) await window.setViewportSize(viewport);
    await window.emulateMedia({ media: null, colorScheme: 'light', reducedMotion: 'no-preference' });
    await window.goto(`${homeOf(window)}#/`);
    await closeNotifications(window);
    await call(window, 'settings.update', settings);
    await withoutErrors(window.context(), () => use(window));
    for (const other of window.context().pages()) if (other !== window) await other.close();
    await removeOwn(window);
    const defaults = Object.keys(settings).map((name) => [name, null]);
    await call(window, 'settings.update', Object.fromEntries(defaults) as object);
  },
});

export { expect } from '@playwright/test';

/** Any error thrown in the windows fails the test. */
async function withoutErrors(context: BrowserContext, use: () => Promise<void>): Promise<void> {
  const errors: string[] = [];
  const note = (error: WebError): void => void errors.push(error.error().message);
  context.on('weberror', note);
  await use();
  context.off('weberror', note);
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

/** Those of the test before stay for a few seconds. */
async function closeNotifications(window: Page): Promise<void> {
  const all = window.locator('.mantine-Notification-root');
  await expect(async () => {
    for (const each of await all.all())
      await each.getByRole('button').last().dispatchEvent('click', {}, { timeout: 1000 });
    await expect(all).toHaveCount(0, { timeout: 1000 });
  }).toPass();
}

/** Other tests expect no library but the sample ("All libraries" covers it alone then), and the demo model in use. */
async function removeOwn(window: Page): Promise<void> {
  const libraries = (await call(window, 'libraries.list', {})) as { id: string; sample: boolean }[];
  for (const { id, sample } of libraries) if (!sample) await call(window, 'libraries.delete', { id });
  const models = (await call(window, 'models.list', {})) as { id: string }[];
  if (models.length > 1) await call(window, 'models.activate', { id: 'demo' });
  for (const { id } of models) if (id !== 'demo') await call(window, 'models.remove', { id });
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
async function allComputed(window: Page): Promise<void> {
  const ready = window.getByRole('list', { name: 'What is ready' });
  await expect(ready).toContainText('Everything is precomputed', { timeout: COMPUTED_MS });
}

function navigation(window: Page) {
  return window.getByRole('navigation', { name: 'Main' });
}

/** Opens a screen through the navigation, as a user does. */
export async function goTo(window: Page, screen: string): Promise<void> {
  await navigation(window).getByRole('link', { name: screen }).click();
}
