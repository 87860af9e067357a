import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { TrialReply, TrialRequest } from './protocol.ts';

/** Loads a file and computes with it where it can end nobody else. MODEL_INVALID, and whatever loading a model fails with. */
export type TryFile = (request: TrialRequest) => Promise<void>;

/** How a host starts the process. What it gives must do what is used here of a child process. */
type SpawnTrial = () => ChildProcess;

export function tryFileIn(spawn: SpawnTrial): TryFile {
  return async (request) => {
    const child = spawn();
    try {
      await new Promise<void>((resolve, reject) => {
        child.on('message', ({ failure }: TrialReply) => {
          if (failure) reject(new KvasirError(failure.code, failure.message, failure.advice));
          else resolve();
        });
        child.on('error', (error) => reject(ended(request.name, error.message)));
        child.on('close', (code, signal) =>
          reject(ended(request.name, signal ?? `exit code ${code ?? '?'}`)),
        );
        child.send(request, (error) => {
          if (error) reject(ended(request.name, error.message));
        });
      });
    } finally {
      child.kill('SIGKILL');
    }
  };
}

/** As another Node process. */
export const tryFile: TryFile = tryFileIn(() =>
  fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  }),
);

function ended(name: string, how: string): KvasirError {
  return new KvasirError(
    'MODEL_INVALID',
    `${name} cannot be used: the process in which it was tried ended (${how}), as by a header that says what is not possible.`,
    'The file may be damaged; fetch it again.',
  );
}
