import { cpSync } from 'node:fs';
import { vi } from 'vitest';
import { App } from '../../src-main/app.ts';
import { madeOnce } from '../../tools/checks/ready-data.ts';

/** Time for reading, computing and calibrating on a busy machine. */
const READY_MS = 400_000;

/**
 * Copies to `data` a data folder in its state after first use: the sample library is computed and the demo model calibrated. An app that
 * starts on an empty folder does both in the background, beside the test. Made once per run, by the first test of any suite. Returns `data`.
 */
export async function readyData(data: string): Promise<string> {
  cpSync(await madeOnce(makeReady), data, { recursive: true });
  return data;
}

async function makeReady(dataDir: string): Promise<void> {
  const app = await App.open({ dataDir });
  try {
    app.start();
    const { model } = await app.localModels.current();
    const isCalibrated = () => app.calibration.of(model, 'headings') !== undefined;
    await vi.waitUntil(isCalibrated, { timeout: READY_MS, interval: 200 });
  } finally {
    await app.close();
  }
}
