import type { ChildProcess } from 'node:child_process';
import { forkUtility } from './utility-child.ts';

/** Starts the process in which model files are tested, under Electron. */
export function spawnTrialChild(): ChildProcess {
  return forkUtility('trial', [], { stdio: 'ignore', serviceName: 'Kvasir model trial' });
}

/** Starts the process in which GPUs are tested, under Electron. */
export function spawnDeviceTrialChild(): ChildProcess {
  return forkUtility('device-trial', [], { stdio: 'ignore', serviceName: 'Kvasir device trial' });
}
