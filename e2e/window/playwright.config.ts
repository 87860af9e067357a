import { defineConfig } from '@playwright/test';
import { halvesOfCores } from '../../tools/checks/halves.ts';
import { CHROMIUM, launchOptions } from './support/browsers.ts';

/**
 * Drives the real app with the real engine and the demo model. `browser`: the server host in Chromium. `electron`: the
 * desktop app, if Electron's binary is installed; otherwise its tests are skipped with the reason.
 */
export default defineConfig({
  globalSetup: '../support/global-setup.ts',
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../../build/e2e-window',
  // Several apps at a time only if engines can be kept from sharing cores (support/test.ts): their threads wait for each other. Two on each
  // half, so that one computes while the other waits.
  workers: (await halvesOfCores()) ? 4 : 1,
  fullyParallel: false,
  // On an idle machine, expectations are met immediately; others are busy or slow.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // A shared machine may stall longer than any timeout. Tests that pass only on retry are reported and counted as such.
  retries: 1,
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    actionTimeout: 60_000,
    // Recording costs a third of a test's time, so only the retry is recorded.
    trace: 'on-first-retry',
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'browser', testIgnore: 'electron.spec.ts', use: { launchOptions } },
    { name: 'electron', testMatch: 'electron.spec.ts' },
  ],
  metadata: { chromium: CHROMIUM ?? 'none' },
});
