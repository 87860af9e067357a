import type { Readable } from 'node:stream';
import type { App } from '../../app.ts';
import type { GlobalFlags } from './options.ts';
import type { OutputStream, Terminal } from './terminal.ts';

/** What a command gets from whoever runs it: its own process, or another one for a guest. */
export interface CommandContext {
  terminal: Terminal;
  /** For what is a protocol, not text for people. */
  stdin: Readable & { readonly isTTY?: boolean | undefined };
  stdout: OutputStream;
  /** The folder that paths count from. Not the process's own, which may be another one's. */
  cwd: string;
  /** Whether a browser that is opened can be seen by whoever asked. */
  display: boolean;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  flags: () => GlobalFlags;
  /** Ends the run with this status once everything is closed. */
  setExitCode: (code: number) => void;
  /** Does something with Kvasir on the data folder that `--data` names. As App.open. */
  withApp: (work: (app: App) => Promise<void>) => Promise<void>;
}
