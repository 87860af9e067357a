import { WebSocketServer } from 'ws';
import type { EventBus } from '../../../platform/event-bus.ts';
import type { Logger } from '../../../platform/logger.ts';
import { createApp } from '../app.ts';
import { listen, type Listener } from '../listener.ts';
import { windowRoutes, type WindowCore } from './routes.ts';
import { Sessions } from './sessions.ts';
import { MAX_MESSAGE_BYTES, ContractSocket } from '../../window/contract-socket.ts';

interface ServerOptions extends WindowCore {
  /** Events for every window. */
  events: EventBus;
  log: Logger;
  /** 0: any free port. */
  port: number;
}

export interface RunningServer extends Omit<Listener, 'address'> {
  /** A one-time URL for one browser. The newest four unused ones are valid. */
  newAddress(): string;
}

const HEARTBEAT_MS = 30_000;

/** Serves windows to browsers on this machine. BAD_ARGUMENT if the port is taken. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { api, events, log } = options;
  const sessions = new Sessions();
  const windows = new Set<ContractSocket>();
  const webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  webSockets.on('connection', (socket) => {
    const window = new ContractSocket(socket, api);
    windows.add(window);
    socket.on('close', () => windows.delete(window));
  });
  const routes = windowRoutes(options, sessions, () => port);
  const listener = await listen({
    fetch: createApp(routes, log).fetch,
    host: '127.0.0.1',
    port: options.port,
    advice: 'Choose another with --port, or leave it out to take any that is free.',
    webSockets,
  });
  const { port, address } = listener;
  const unsubscribe = events.on((event) => windows.forEach((window) => window.tell(event)));
  const heartbeat = setInterval(() => windows.forEach((window) => window.checkAlive()), HEARTBEAT_MS);
  log.info('server-started', { port });
  return {
    port,
    newAddress: () => `${address}/?token=${sessions.newToken()}`,
    close: () => {
      clearInterval(heartbeat);
      unsubscribe();
      windows.forEach((window) => window.end());
      return listener.close();
    },
  };
}
