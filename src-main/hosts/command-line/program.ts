import { Command, CommanderError } from 'commander';
import type { CoreClient } from '../client/client.ts';
import { addGlobalFlags, type GlobalFlags } from './options.ts';
import { addAnalyseCommand } from './commands/analyse/analyse.ts';
import { addAskCommand } from './commands/ask/ask.ts';
import { addCacheCommand } from './commands/cache/cache.ts';
import { addCalibrateCommand } from './commands/calibrate/calibrate.ts';
import { addCompareCommand } from './commands/compare/compare.ts';
import { addDemoCommand } from './commands/demo/demo.ts';
import { addExportCommand } from './commands/export/export.ts';
import { addMcpCommand } from './commands/mcp/mcp.ts';
import { addModelCommand } from './commands/model/model.ts';
import { addServeCommand } from './commands/serve/serve.ts';
import type { CommandContext } from './context.ts';
import { describeFailure, EXIT } from './failure.ts';

interface CommandRun extends Omit<CommandContext, 'setExitCode' | 'withClient'> {
  /** Runs work of a client of the core, with the value of `--data`. */
  withClient: (data: string | undefined, work: (client: CoreClient) => Promise<void>) => Promise<void>;
}

/**
 * Runs a command line (`argv` begins with executable and script) and returns its exit status; errors are printed to
 * stderr.
 */
export async function runCommandLine(argv: readonly string[], run: CommandRun): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildProgram({
    ...run,
    setExitCode: (code) => (exitCode = code),
    withClient: (profile, work) =>
      run.withClient(program.opts<GlobalFlags>().data, async (client) => {
        if (profile) await client.call('command.profile', profile);
        await work(client);
      }),
  });
  try {
    await program.parseAsync([...argv]);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const failure = describeFailure(error, program.opts<GlobalFlags>().debug === true);
    failure.lines.forEach((line) => run.terminal.err(line));
    return failure.exitCode;
  }
}

function buildProgram(context: CommandContext): Command {
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
  addServeCommand(program, context);
  addDemoCommand(program, context);
  addAskCommand(program, context);
  addAnalyseCommand(program, context);
  addCalibrateCommand(program, context);
  addCompareCommand(program, context);
  addCacheCommand(program, context);
  addExportCommand(program, context);
  addMcpCommand(program, context);
  addModelCommand(program, context);
  return program;
}
