import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import openInBrowser from 'open';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import { createApi } from '../../../../api/api.ts';
import { createHandlers } from '../../../../api/handlers.ts';
import { appRoot } from '../../../../platform/root.ts';
import type { CommandContext } from '../../context.ts';
import { integer } from '../../options.ts';
import { startServer, type RunningServer } from '../../../http/window/server.ts';
import type { Terminal } from '../../terminal.ts';
import { addApiFlags, requireApi, serveApi, type ApiFlags } from './api.ts';

interface ServeFlags extends ApiFlags {
  port: number;
  open: boolean;
  api?: boolean;
}

export function addServeCommand(program: Command, context: CommandContext): void {
  const command = new Command('serve')
    .description("show Kvasir's window in a browser of this machine (what is done without a command)")
    .option('--port <n>', 'port of 127.0.0.1 to listen on (default: any that is free)', integer(0), 0)
    .option('--no-open', 'do not open a browser')
    .option('--api', "serve other programs by OpenAI's API, and no window")
    .copyInheritedSettings(program);
  addApiFlags(command, context);
  command.action((flags: ServeFlags) => {
    if (!flags.api) return serve(flags, context);
    if (!flags.open)
      throw new KvasirError('BAD_ARGUMENT', '--no-open is only for the window.', 'Leave it out.');
    return serveApi(flags, context);
  });
  program.addCommand(command, { isDefault: true });
}

async function serve(flags: ServeFlags, context: CommandContext): Promise<void> {
  requireApi(flags);
  const { port, open } = flags;
  const rendererDir = builtWindow();
  await context.withApp(async (app) => {
    const server = await startServer({
      api: createApi(createHandlers(app, { kind: 'server' }), app.log),
      events: app.events,
      uploads: {
        receiveDocument: (libraryId, path, body) => app.libraries.receiveUpload(libraryId, path, body),
        modelsDir: join(app.paths.data, 'models'),
        backupsDir: join(app.paths.data, 'backups'),
      },
      views: app.libraries.views,
      rendererDir,
      log: app.log,
      port,
    });
    try {
      app.start();
      announce(server, context);
      if (open && context.display) await showInBrowser(server, context.terminal);
      await untilStopped(server, context);
    } finally {
      await server.close();
    }
  });
}

/** The folder of the window's files. ENGINE_FAILED if setup has not built it. */
function builtWindow(): string {
  const dir = join(appRoot(), 'out', 'renderer');
  if (existsSync(join(dir, 'index.html'))) return dir;
  throw new KvasirError(
    'ENGINE_FAILED',
    `The window is not built (${dir} is missing).`,
    'Run `npm run setup`.',
  );
}

function announce(server: RunningServer, { terminal, stdin }: CommandContext): void {
  terminal.out(`Kvasir is running. This address lets one browser on this machine in, once:\n`);
  terminal.out(`\n${server.newAddress()}\n\n`);
  terminal.out(`${stdin.isTTY === true ? 'Press Enter for another address, ' : ''}Ctrl-C to stop.\n`);
}

/** Uses a separate one-time URL, so that the printed one stays valid. */
async function showInBrowser(server: RunningServer, terminal: Terminal): Promise<void> {
  try {
    const browser = await openInBrowser(server.newAddress());
    browser.on('error', () => terminal.err('No browser could be opened.'));
  } catch {
    terminal.err('No browser could be opened.');
  }
}

/** Prints a new URL whenever the user presses Enter in the terminal. */
async function untilStopped(
  server: RunningServer,
  { terminal, signal, stdin }: CommandContext,
): Promise<void> {
  const lines = stdin.isTTY === true ? createInterface({ input: stdin }) : undefined;
  lines?.on('line', () => terminal.out(`${server.newAddress()}\n`));
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  lines?.close();
}
