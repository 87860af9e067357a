/** An MCP server over stdio, as somebody would write one with the SDK. Environment variables choose its behaviour. */
import { setTimeout as wait } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { testMcpServer } from './mcp-test-server.ts';

const { SLOW_MS = '0', DESCRIPTION } = process.env;

process.stderr.write(`key ${process.env['SECRET'] ?? 'none'}\n`);
await wait(Number(SLOW_MS));
await testMcpServer(DESCRIPTION).connect(new StdioServerTransport());
