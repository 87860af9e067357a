import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A process a file: the native addon and SQLite stay apart, and a crash names its file.
    pool: 'forks',
    maxWorkers: 2,
    // No test looks at the models of whoever runs it.
    env: { KVASIR_MODELS_HOME: '/no-models-here' },
    // What is waited for comes at once, or never; a busy machine may take its time. Longer than a poll: the poll tells more.
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
          // These start the real program with the real engine, one after another: two would share the cores.
          fileParallelism: false,
          // As for the window: what passes only at the second try is marked "retry" in the output.
          retry: 1,
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
