import { test as base, expect, type Page } from '@playwright/test';
import { CHROMIUM, NO_CHROMIUM } from './browsers.ts';
import { startApp, temporaryFolder, type RunningApp } from './app.ts';

interface Fixtures {
  /** An empty folder for the app's data. */
  dataDir: string;
  /** The app, started on it. */
  app: RunningApp;
  /** Its window, with the core connected. */
  window: Page;
}

export const test = base.extend<Fixtures>({
  dataDir: async ({}, use) => {
    const folder = temporaryFolder();
    await use(folder.path);
    folder.remove();
  },
  app: async ({ dataDir }, use) => {
    test.skip(CHROMIUM === undefined, NO_CHROMIUM);
    const app = await startApp(dataDir);
    await use(app);
    await app.stop();
  },
  window: async ({ app, page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(app.url);
    await use(page);
    expect(errors, 'errors thrown in the window').toEqual([]);
  },
});

export { expect } from '@playwright/test';

/** Goes to a screen by the navigation, as a person does. */
export async function goTo(window: Page, screen: string): Promise<void> {
  await window.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: screen }).click();
}
