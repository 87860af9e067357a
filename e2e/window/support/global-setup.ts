import { join } from 'node:path';
import { bundleProgram } from '../../../tools/setup/setup.mjs';
import { READY_DATA, temporaryFolder } from './app.ts';

/** Playwright's global setup: the program that tests start, and a folder for the data that all workers of a run share. */
export default async function setup(): Promise<() => void> {
  await bundleProgram();
  const folder = temporaryFolder();
  process.env[READY_DATA] = join(folder.path, 'data');
  return () => folder.remove();
}
