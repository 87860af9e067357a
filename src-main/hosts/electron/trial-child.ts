import type { ChildProcess } from 'node:child_process';
import { forkUtility } from './utility-child.ts';

/** Starts the process in which model files are tried under Electron. */
export function spawnTrialChild(): ChildProcess {
  return forkUtility('trial', [], { stdio: 'ignore', serviceName: 'Kvasir model trial' });
}

/** And the one in which GPUs are. */
export function spawnDeviceTrialChild(): ChildProcess {
  return forkUtility('device-trial', [], { stdio: 'ignore', serviceName: 'Kvasir device trial' });
}
