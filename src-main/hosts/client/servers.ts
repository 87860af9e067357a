import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { CommandHandlers } from '../../../src-shared/contract/contract.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { createApi } from '../../api/api.ts';
import { createHandlers } from '../../api/handlers.ts';
import type { App } from '../../app.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import { appRoot } from '../../platform/root.ts';
import type { RunningServer } from '../http/window/server.ts';

/** Registers what a session opens, so that it is closed even if the session ends before it is open. */
export type Opener = <T extends { close(): unknown }>(opening: Promise<T>) => Promise<T>;

/** Servers for one client: a window, other programs, MCP. Their modules are loaded with the first of each kind: most commands need none. */
export function serverHandlers(
  app: App,
  events: EventBus,
  open: Opener,
): Omit<CommandHandlers, 'command.profile' | 'command.close'> {
  let window: Promise<RunningServer> | undefined;
  let mcp: InMemoryTransport | undefined;
  return {
    'command.window': async ({ port }) => {
      window ??= open(startWindow(app, port));
      const server = await window;
      app.start();
      return { address: server.newAddress() };
    },
    'command.api': async (options) => {
      const [{ startApi }, { mcpOverHttp }, { createMcpServer }] = await Promise.all([
        import('../http/api/server.ts'),
        import('../http/mcp.ts'),
        import('../mcp/server.ts'),
      ]);
      const { completions, vectors, sentDocuments: documents, log, version } = app;
      const mcpServer = mcpOverHttp(() => createMcpServer(app));
      const core = { completions, vectors, documents, mcp: mcpServer, log, version };
      const { address } = await open(startApi({ ...options, ...core, models: () => app.models.list() }));
      app.start();
      return { address };
    },
    'command.mcp': async () => {
      const [{ InMemoryTransport }, { createMcpServer }] = await Promise.all([
        import('@modelcontextprotocol/sdk/inMemory.js'),
        import('../mcp/server.ts'),
      ]);
      const [here, there] = InMemoryTransport.createLinkedPair();
      here.onmessage = (message) => events.emit('command.message', { message });
      await createMcpServer(app).connect(there);
      mcp = await open(Promise.resolve(here));
      app.start();
    },
    'command.message': ({ message }) => mcp?.send(message as JSONRPCMessage),
  };
}

async function startWindow(app: App, port: number): Promise<RunningServer> {
  const { startServer } = await import('../http/window/server.ts');
  return startServer({
    api: createApi(createHandlers(app, { kind: 'server' }), app.log),
    events: app.events,
    uploads: {
      receiveDocument: (libraryId, path, body) => app.libraries.receiveUpload(libraryId, path, body),
      modelsDir: join(app.paths.data, 'models'),
      backupsDir: join(app.paths.data, 'backups'),
    },
    views: app.libraries.views,
    rendererDir: builtWindow(),
    log: app.log,
    port,
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
