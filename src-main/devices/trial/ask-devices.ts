import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KvasirError } from '../../../src-shared/errors.ts';
import { askChild, type SpawnChild } from '../../platform/ask-child.ts';
import type { DeviceReply, DeviceRequest } from './protocol.ts';

/** Runs work that may crash in a separate process. DEVICE_FAILED, ABORTED, and any error of loading and computing. */
export type AskDevices = (
  request: DeviceRequest,
  signal: AbortSignal,
) => Promise<Exclude<DeviceReply, { failure: unknown }>>;

const LIMIT_MS = 180_000;

export function askDevicesIn(spawn: SpawnChild, limitMs = LIMIT_MS): AskDevices {
  return async (request, signal) => {
    const ended = (how: string): KvasirError => processEndedError(request, how);
    const reply = await askChild<DeviceReply>(spawn, request, { ended, signal, limitMs });
    if ('failure' in reply) {
      const { code, message, advice } = reply.failure;
      throw new KvasirError(code, message, advice);
    }
    return reply;
  };
}

/** Uses another Node process. */
export const askDevices: AskDevices = askDevicesIn(() =>
  fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  }),
);

function processEndedError(request: DeviceRequest, how: string): KvasirError {
  const what = request.ask === 'try' ? request.device : 'the GPU';
  return new KvasirError(
    'DEVICE_FAILED',
    `The test process of ${what} crashed (${how}), so the CPU is used.`,
    "A newer version of the GPU's driver may help; then test it again in the settings.",
  );
}
