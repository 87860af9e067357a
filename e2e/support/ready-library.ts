import { vi } from 'vitest';
import type { App } from '../../src-main/app.ts';

/** Starts an app without the sample library, whose KV would be computed beside the test. */
export async function startWithoutSample(app: App): Promise<void> {
  app.start();
  for (const { id, sample } of app.libraries.list()) if (sample) await app.libraries.delete(id);
}

/** Creates a library of the documents in a folder; resolves once they are ready for questions. */
export async function readyLibrary(app: App, name: string, folder: string): Promise<void> {
  const { id } = app.libraries.create(name);
  await app.libraries.addPaths({ id, paths: [folder], watch: false });
  const ready = (): boolean =>
    app.libraries.list().every(({ chunks, pending }) => chunks > 0 && pending === 0);
  await vi.waitUntil(ready, { timeout: 60_000, interval: 100 });
}
