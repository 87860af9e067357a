#!/usr/bin/env node
import { setTimeout as sleep } from 'node:timers/promises';
import { programVersion } from '../../platform/root.ts';
import { handOver } from '../guests/hand-over.ts';
import { ownerFailure } from '../guests/host-file.ts';
import { hasDisplay } from '../window/display.ts';
import { EXIT, FolderInUse } from './failure.ts';
import { withOwnApp } from './own-app.ts';
import { runCommandLine, tellFailure, type CommandRun } from './program.ts';
import { showsColor, terminalOn } from './terminal.ts';

/** Time in milliseconds for an owner of the data folder to start or to end before the command gives up. */
const PATIENCE_MS = 5000;
const RETRY_MS = 100;

/** The first Ctrl-C stops the work cleanly, the second ends the process. */
function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return controller.signal;
}

/** Runs the command here, or in the process that owns the data folder. */
async function main(argv: readonly string[]): Promise<number> {
  const { stdin, stdout, stderr } = process;
  const color = showsColor();
  const terminal = terminalOn(stdout, stderr, color);
  const io = { stdin, stdout, stderr, cwd: process.cwd(), display: hasDisplay(), signal: abortOnInterrupt() };
  const run: CommandRun = {
    ...io,
    terminal,
    withApp: (data, work) => withOwnApp(run, data, work),
  };
  const debug = argv.includes('--debug');
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await runCommandLine(argv, run);
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
      try {
        const status = await handOver(error.dataDir, programVersion(), { ...io, argv: [...argv], color });
        if (status !== undefined) return status;
      } catch (lost) {
        return tellFailure(lost, terminal, debug);
      }
      if (io.signal.aborted || performance.now() > until) {
        const failure = ownerFailure(error.dataDir, programVersion(), error.failure);
        return tellFailure(failure, terminal, debug);
      }
      await sleep(RETRY_MS);
    }
  }
}

// A reader such as `head` that closes the pipe early is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure),
);
process.exitCode = await main(process.argv);
