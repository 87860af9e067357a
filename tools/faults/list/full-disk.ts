import { RunningApp, CallError } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** From some call on, no file can be created: Kvasir reports exactly that and nothing else breaks. */
export const fullDisk: Fault = {
  name: 'full disk',
  covers: 'ENOSPC at an upload: DISK_FULL and no other effect',
  async run({ data, random }) {
    const app = await RunningApp.start(data, {
      KVASIR_FULL_FROM: String(1 + random(6)),
      KVASIR_FAULTS_IN: 'libraries/',
    });
    const { id } = await app.call('libraries.create', { name: 'Too much' });
    for (let i = 0; i < 4; i++) {
      try {
        await app.upload(id, `a/${i}.txt`, 'Something.');
      } catch (error) {
        if (!(error instanceof CallError && error.code === 'DISK_FULL')) throw error;
      }
    }
  },
};
