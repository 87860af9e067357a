import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Command } from 'commander';
import { createMcpServer } from '../../../mcp/server.ts';
import type { CommandContext } from '../../context.ts';

export function addMcpCommand(program: Command, context: CommandContext): void {
  const command = new Command('mcp')
    .description('serve a program that speaks MCP over stdin and stdout: search, answers and documents')
    .action(() => serveMcp(context))
    .copyInheritedSettings(program);
  program.addCommand(command);
}

/** Runs until the other side closes stdin, or it is stopped. stdout carries only the protocol. Errors as App.open(). */
async function serveMcp({ withApp, stdin, stdout, terminal, signal }: CommandContext): Promise<void> {
  await withApp(async (app) => {
    const server = createMcpServer(app);
    const left = once(stdin, 'close', { signal }).catch(() => undefined);
    await server.connect(new StdioServerTransport(stdin, stdout));
    app.start();
    terminal.err('Kvasir serves MCP over stdin and stdout. Ctrl-C to stop.');
    await left;
    await server.close();
  });
}
