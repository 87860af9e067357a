import type { Readable } from 'node:stream';
import type { ProfileInput } from '../../../src-shared/contract/command.ts';
import type { CoreClient } from '../client/client.ts';
import type { OutputStream, Terminal } from './terminal.ts';

export interface CommandContext {
  terminal: Terminal;
  /** For protocol data rather than text for people. */
  stdin: Readable & { readonly isTTY?: boolean | undefined };
  stdout: OutputStream;
  /** The folder that relative paths refer to. */
  cwd: string;
  /** Whether a browser opened here is visible to the user. */
  display: boolean;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  /** Ends the run with this status once everything is closed. */
  setExitCode: (code: number) => void;
  /** Runs work of a client of the core on the data folder given by `--data`. Errors as App.open and Profile.open. */
  withClient: (
    profile: ProfileInput | undefined,
    work: (client: CoreClient) => Promise<void>,
  ) => Promise<void>;
}
