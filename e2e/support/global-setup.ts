import { shareReadyData } from '../../tools/checks/ready-data.ts';
import { bundleProgram } from '../../tools/setup/setup.mjs';

/** Global setup of Vitest and Playwright: the program that tests start, and a folder for the data that all files of a run share. */
export default async function setup(): Promise<() => void> {
  await bundleProgram();
  return shareReadyData();
}
