import { defineConfig } from '@playwright/test';
import { CHROMIUM, launchOptions } from './support/browsers.ts';

/**
 * Drives the real app with the real engine and the demo model. `browser`: the server host in Chromium. `electron`: the
 * desktop app itself, wherever Electron's binary is; elsewhere its tests are skipped and say why.
 */
export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../../build/e2e-window',
  // One app at a time: two would share the cores with each other and with the engine.
  workers: 1,
  fullyParallel: false,
  // What is waited for comes at once on a quiet machine; others are busy, or slow.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // A shared machine may stall for as long as any patience. What passes only at the second try is named and counted as such.
  retries: 1,
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    actionTimeout: 60_000,
    trace: 'retain-on-first-failure',
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'browser', testIgnore: 'electron.spec.ts', use: { launchOptions } },
    { name: 'electron', testMatch: 'electron.spec.ts' },
  ],
  metadata: { chromium: CHROMIUM ?? 'none' },
});
