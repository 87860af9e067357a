import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleProgram } from '../../tools/setup/setup.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the data folder that ready-data.ts creates for the first test that needs it. */
    readyData: string;
  }
}

/** Vitest's global setup: the program that tests start, and a folder for the data that all files of a run share. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  await bundleProgram();
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-ready-'));
  provide('readyData', join(dir, 'data'));
  return () => rmSync(dir, { recursive: true, force: true });
}
