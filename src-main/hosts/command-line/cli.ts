#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { addGlobalFlags, type GlobalFlags } from './options.ts';
import { addAnalyseCommand } from './commands/analyse/analyse.ts';
import { addAskCommand } from './commands/ask/ask.ts';
import { addCacheCommand } from './commands/cache/cache.ts';
import { addCalibrateCommand } from './commands/calibrate/calibrate.ts';
import { addCompareCommand } from './commands/compare/compare.ts';
import { addDemoCommand } from './commands/demo/demo.ts';
import { addMcpCommand } from './commands/mcp/mcp.ts';
import { addModelCommand } from './commands/model/model.ts';
import { addServeCommand } from './commands/serve/serve.ts';
import type { CommandContext } from './context.ts';
import { describeFailure, EXIT } from './failure.ts';
import { systemTerminal } from './terminal.ts';

function buildProgram(context: Omit<CommandContext, 'flags'>): Command {
  const program = new Command('kvasir')
    .usage('[options] [command]')
    .description(
      'Answers questions from your documents by blending precomputed KV caches. Without a command: its window, in a browser.',
    )
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .enablePositionalOptions(false)
    .showHelpAfterError('(--help shows how it is used)');
  addGlobalFlags(program);
  const full: CommandContext = { ...context, flags: () => program.opts<GlobalFlags>() };
  addServeCommand(program, full);
  addDemoCommand(program, full);
  addAskCommand(program, full);
  addAnalyseCommand(program, full);
  addCalibrateCommand(program, full);
  addCompareCommand(program, full);
  addCacheCommand(program, full);
  addMcpCommand(program, full);
  addModelCommand(program, full);
  return program;
}

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

async function main(argv: string[]): Promise<number> {
  const terminal = systemTerminal();
  let exitCode: number = EXIT.ok;
  const program = buildProgram({
    terminal,
    signal: abortOnInterrupt(),
    setExitCode: (code) => (exitCode = code),
  });
  try {
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const failure = describeFailure(error, program.opts<GlobalFlags>().debug === true);
    failure.lines.forEach((line) => terminal.err(line));
    return failure.exitCode;
  }
}

// A reader such as `head` that closes the pipe early is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure),
);
process.exitCode = await main(process.argv);
