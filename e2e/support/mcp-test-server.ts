import { setTimeout as wait } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** A server whose tools do what tests of a client need. */
export function testMcpServer(description = 'Repeats a text.'): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  let cancelled = 0;
  const text = (said: unknown) => ({ content: [{ type: 'text' as const, text: String(said) }] });
  server.registerTool(
    'echo',
    { title: 'Echo', description, inputSchema: { text: z.string() } },
    ({ text: said }) => text(said),
  );
  server.registerTool('pid', {}, () => text(process.pid));
  server.registerTool('variables', {}, () => text(Object.keys(process.env).join(' ')));
  server.registerTool('fail', {}, () => ({ ...text('No such file.'), isError: true }));
  server.registerTool('exit', {}, () => {
    process.stderr.write('out of luck\n');
    process.exit(3);
  });
  server.registerTool('grow', {}, () => {
    server.registerTool('grown', {}, () => text('new'));
    return text('grown');
  });
  server.registerTool('cancelled', {}, () => text(cancelled));
  server.registerTool(
    'wait',
    { inputSchema: { ms: z.number(), reports: z.boolean() } },
    async ({ ms, reports }, { signal, sendNotification, _meta }) => {
      signal.addEventListener('abort', () => cancelled++);
      const progressToken = _meta?.progressToken;
      for (let progress = 0; progress * 50 < ms && !signal.aborted; progress++) {
        await wait(50);
        if (!reports || progressToken === undefined) continue;
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
      }
      return text('waited');
    },
  );
  return server;
}
