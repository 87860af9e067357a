import { defineConfig } from 'vitest/config';
import { halvesOfCores } from './tools/checks/halves.ts';
import { SlowestFirst } from './tools/checks/slowest-first.ts';

/**
 * Several processes only if engines can be kept from sharing cores: their threads wait for each other. Two on each half of the cores, so that
 * one computes while the other waits.
 */
const WORKERS = (await halvesOfCores()) ? 4 : 1;

export default defineConfig({
  test: {
    // One process per file: the native addon and SQLite stay isolated, and a crash identifies its file.
    pool: 'forks',
    maxWorkers: WORKERS,
    setupFiles: ['tools/checks/half-for-worker.ts'],
    sequence: { sequencer: SlowestFirst },
    // Tests ignore the user's own models.
    env: { KVASIR_MODELS_HOME: '/no-models-here' },
    // Polled conditions hold immediately or never, but a busy machine may need time. Longer than one poll interval: a poll's failure
    // message says more.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src-*/**/*.test.ts', 'tools/**/*.test.ts', 'bench/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          globalSetup: 'e2e/support/global-setup.ts',
          // Node loads the sources as it does for scripts, with compiled code from earlier processes. Vite would transform and compile
          // nearly all of them for each file. No test replaces modules.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          // These start the real program with the real engine.
          maxWorkers: WORKERS,
          sequence: { groupOrder: 1 },
          // As for the window: tests that pass only on retry are marked "retry" in the output.
          retry: 1,
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
