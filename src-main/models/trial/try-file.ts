import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KvasirError } from '../../../src-shared/errors.ts';
import { askChild, type SpawnChild } from '../../platform/ask-child.ts';
import type { TrialReply, TrialRequest } from './protocol.ts';

/** Loads a file and computes with it where it can end nobody else. MODEL_INVALID, and whatever loading a model fails with. */
export type TryFile = (request: TrialRequest) => Promise<void>;

export function tryFileIn(spawn: SpawnChild): TryFile {
  return async (request) => {
    const ended = (how: string): KvasirError => endedBy(request.name, how);
    const { failure } = await askChild<TrialReply>(spawn, request, { ended });
    if (failure) throw new KvasirError(failure.code, failure.message, failure.advice);
  };
}

/** As another Node process. */
export const tryFile: TryFile = tryFileIn(() =>
  fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  }),
);

function endedBy(name: string, how: string): KvasirError {
  return new KvasirError(
    'MODEL_INVALID',
    `${name} cannot be used: the process in which it was tried ended (${how}), as by a header that says what is not possible.`,
    'The file may be damaged; fetch it again.',
  );
}
