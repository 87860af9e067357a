import { once } from 'node:events';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';

export function addMcpCommand(program: Command, context: CommandContext): void {
  program
    .command('mcp')
    .description('serve a program that speaks MCP over stdin and stdout: search, answers and documents')
    .action(() => serveMcp(context));
}

/** Runs until the other side closes stdin, or it is stopped. stdout carries only the protocol. Errors as App.open(). */
async function serveMcp({ withClient, stdin, stdout, terminal, signal }: CommandContext): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  await withClient(undefined, async (client) => {
    const left = once(stdin, 'close', { signal }).catch(() => undefined);
    const stdio = new StdioServerTransport(stdin, stdout);
    // `lost` reports why a call fails.
    stdio.onmessage = (message) => void client.call('command.message', { message }).catch(() => undefined);
    client.on('command.message', ({ message }) => void stdio.send(message as JSONRPCMessage));
    await client.call('command.mcp');
    await stdio.start();
    terminal.err('Kvasir serves MCP over stdin and stdout. Ctrl-C to stop.');
    try {
      await Promise.race([left, client.lost]);
    } finally {
      await stdio.close();
    }
  });
}
