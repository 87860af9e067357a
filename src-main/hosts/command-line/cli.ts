#!/usr/bin/env node
import { hasDisplay } from '../window/display.ts';
import { EXIT } from './failure.ts';
import { runCommandLine } from './program.ts';
import { showsColor, terminalOn } from './terminal.ts';

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

// A reader such as `head` that closes the pipe early is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure),
);
const { stdin, stdout, stderr } = process;
const caller = { terminal: terminalOn(stdout, stderr, showsColor()), signal: abortOnInterrupt() };
process.exitCode = await runCommandLine(process.argv, {
  ...caller,
  stdin,
  stdout,
  cwd: process.cwd(),
  display: hasDisplay(),
  async withClient(data, work) {
    const { withClient } = await import('./with-client.ts'); // the core: help and wrong usage do without it
    await withClient(caller, data, work);
  },
});
