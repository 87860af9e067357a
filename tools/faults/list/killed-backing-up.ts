import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** Killed while it writes a backup: no partial file remains, and every listed backup can be restored. */
export const killedBackingUp: Fault = {
  name: 'killed backing up',
  covers: 'SIGKILL while a backup is written: no partial file remains, every listed backup can be restored',
  async run({ data, random }) {
    const faults = { KVASIR_KILL_AT: String(1 + random(12)), KVASIR_FAULTS_IN: 'backups' };
    const app = await RunningApp.start(data, faults).catch(() => undefined);
    await app?.call('app.backup', {}).catch(() => undefined);
    await app?.kill();
    const again = await RunningApp.start(data);
    const left = readdirSync(join(data, 'backups')).filter((name) => !name.endsWith('.zip'));
    const backups = await again.call('app.backups', {});
    for (const { path } of backups) await again.call('app.restore', { path });
    if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  },
};
