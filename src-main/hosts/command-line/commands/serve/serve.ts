import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { CommandContext } from '../../context.ts';
import { integer } from '../../options.ts';
import type { Terminal } from '../../terminal.ts';
import { addApiFlags, requireApi, serveApi, stopped, type ApiFlags } from './api.ts';

interface ServeFlags extends ApiFlags {
  port: number;
  open: boolean;
  api?: boolean;
}

export function addServeCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('serve', { isDefault: true })
    .description("show Kvasir's window in a browser of this machine (what is done without a command)")
    .option('--port <n>', 'port of 127.0.0.1 to listen on (default: any that is free)', integer(0), 0)
    .option('--no-open', 'do not open a browser')
    .option('--api', "serve other programs by OpenAI's API, and no window");
  addApiFlags(command, context);
  command.action((flags: ServeFlags) => {
    if (!flags.api) return serve(flags, context);
    if (!flags.open)
      throw new KvasirError('BAD_ARGUMENT', '--no-open is only for the window.', 'Leave it out.');
    return serveApi(flags, context);
  });
}

async function serve(flags: ServeFlags, context: CommandContext): Promise<void> {
  requireApi(flags);
  const { port, open } = flags;
  await context.withClient(undefined, async (client) => {
    const newAddress = async (): Promise<string> => (await client.call('command.window', { port })).address;
    announce(await newAddress(), context);
    // The printed one stays valid.
    if (open && context.display) await showInBrowser(await newAddress(), context.terminal);
    await untilStopped(newAddress, context, client.lost);
  });
}

function announce(address: string, { terminal, stdin }: CommandContext): void {
  terminal.out(`Kvasir is running. This address lets one browser on this machine in, once:\n`);
  terminal.out(`\n${address}\n\n`);
  terminal.out(`${stdin.isTTY === true ? 'Press Enter for another address, ' : ''}Ctrl-C to stop.\n`);
}

async function showInBrowser(address: string, terminal: Terminal): Promise<void> {
  try {
    const { default: openInBrowser } = await import('open');
    const browser = await openInBrowser(address);
    browser.on('error', () => terminal.err('No browser could be opened.'));
  } catch {
    terminal.err('No browser could be opened.');
  }
}

/** Prints a new URL whenever the user presses Enter in the terminal. */
async function untilStopped(
  newAddress: () => Promise<string>,
  { terminal, signal, stdin }: CommandContext,
  lost: Promise<never>,
): Promise<void> {
  const lines = stdin.isTTY === true ? createInterface({ input: stdin }) : undefined;
  const print = async (): Promise<void> => terminal.out(`${await newAddress()}\n`);
  lines?.on('line', () => void print().catch(() => undefined)); // `lost` reports why
  await Promise.race([stopped(signal), lost]).finally(() => lines?.close());
}
