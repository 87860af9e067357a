import { Command, CommanderError } from 'commander';
import type { App } from '../../app.ts';
import { clientOf } from '../client/client.ts';
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
import { describeFailure, EXIT, FolderInUse } from './failure.ts';
import type { Terminal } from './terminal.ts';

export interface CommandRun extends Omit<CommandContext, 'flags' | 'setExitCode' | 'withApp' | 'withClient'> {
  /** CommandContext.withApp, with the value of `--data`. */
  withApp: (data: string | undefined, work: (app: App) => Promise<void>) => Promise<void>;
}

/**
 * Runs a command line (`argv` begins with executable and script) and returns its exit status; errors are printed to
 * stderr. Rejects only with FolderInUse, before anything was written.
 */
export async function runCommandLine(argv: readonly string[], run: CommandRun): Promise<number> {
  let exitCode: number = EXIT.ok;
  const withApp: CommandContext['withApp'] = (work) => run.withApp(program.opts<GlobalFlags>().data, work);
  const program = buildProgram({
    ...run,
    setExitCode: (code) => (exitCode = code),
    withApp,
    withClient: (profile, work) =>
      withApp(async (app) => {
        const client = await clientOf(app, profile);
        try {
          await work(client);
        } finally {
          await client.close();
        }
      }),
  });
  try {
    await program.parseAsync([...argv]);
    return exitCode;
  } catch (error) {
    if (error instanceof FolderInUse) throw error;
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return tellFailure(error, run.terminal, program.opts<GlobalFlags>().debug === true);
  }
}

/** Prints the error and returns the exit status. */
export function tellFailure(error: unknown, terminal: Terminal, debug: boolean): number {
  const failure = describeFailure(error, debug);
  failure.lines.forEach((line) => terminal.err(line));
  return failure.exitCode;
}

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
  const { terminal } = context;
  program.configureOutput({
    writeOut: (text) => terminal.out(text),
    writeErr: (text) => terminal.err(text.replace(/\n$/, '')),
  });
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
