import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelEntry } from '../../src-shared/contract/models.ts';
import { isErrorCode } from '../../src-shared/errors.ts';
import { settled } from './baseline.ts';
import { CallError, type RunningApp } from './running-app.ts';

export const DEMO_MODEL = join(import.meta.dirname, '..', '..', 'resources', 'models', 'kvasir-demo.gguf');

/** Writes a copy of the demo model to `path`. */
export function copyDemo(path: string): void {
  copyFileSync(DEMO_MODEL, path);
}

/** Makes a copy of the demo model at `path` the active model; returns its id. */
export async function useCopy(app: RunningApp, path: string): Promise<string> {
  copyDemo(path);
  await app.call('settings.update', { chunkTokens: 96, threads: 1 });
  const { id } = await app.call('models.import', { path });
  await app.call('models.activate', { id });
  await settled(app);
  return id;
}

export async function modelOf(app: RunningApp, id: string): Promise<ModelEntry> {
  const entry = (await app.call('models.list', {})).find((model) => model.id === id);
  if (!entry) throw new Error(`the model ${id} is not in the list`);
  return entry;
}

/** Throws unless the call fails with a known error code. */
export async function requireRefused(call: Promise<unknown>, code?: string): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (error instanceof CallError && isErrorCode(error.code) && error.code === (code ?? error.code)) return;
    throw error;
  }
  throw new Error('the call was not refused');
}
