import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { askChild, type SpawnChild } from '../../../platform/ask-child.ts';
import type { TrialReply, TrialRequest } from './protocol.ts';

/**
 * Loads a file and computes with it in a process whose crash is harmless. MODEL_INVALID, and any error of loading a
 * model.
 */
export type TryFile = (request: TrialRequest) => Promise<void>;

export function tryFileIn(spawn: SpawnChild): TryFile {
  return async (request) => {
    const ended = (how: string): KvasirError => endedBy(request.name, how);
    const { failure } = await askChild<TrialReply>(spawn, request, { ended });
    if (failure) throw new KvasirError(failure.code, failure.message, failure.advice);
  };
}

/** Uses another Node process. */
export const tryFile: TryFile = tryFileIn(() =>
  fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  }),
);

function endedBy(name: string, how: string): KvasirError {
  return new KvasirError(
    'MODEL_INVALID',
    `${name} cannot be used: the model crashed during its test run (${how}); the file header may be invalid.`,
    'The file may be damaged; download it again.',
  );
}
