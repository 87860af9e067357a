import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** Killed between two steps of a restore. */
export const killedRestoring: Fault = {
  name: 'killed restoring',
  covers: 'SIGKILL between two steps of a restore: uploads and settings are the old or the new ones',
  async run({ data, backup, random }) {
    const app = await RunningApp.start(data);
    await app.call('app.restore', { path: backup });
    await app.stop();
    const faults = { KVASIR_KILL_AT: String(1 + random(20)), KVASIR_FAULTS_IN: 'restore-' };
    await RunningApp.start(data, faults).catch(() => undefined);
  },
};
