import type { GlobalFlags } from './options.ts';
import type { Terminal } from './terminal.ts';

/** What a command gets from the host it runs in. */
export interface CommandContext {
  terminal: Terminal;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  flags: () => GlobalFlags;
  /** Ends the run with this status once everything is closed. */
  setExitCode: (code: number) => void;
}
