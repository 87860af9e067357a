import { createServer, STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Api } from '../../../api/api.ts';
import type { EventBus } from '../../../platform/event-bus.ts';
import { endServer, httpOptions, listen, portOf } from '../listener.ts';
import type { Logger } from '../../../platform/logger.ts';
import { Access } from './sessions.ts';
import { Guard, type Refusal } from './guard.ts';
import { createRequests } from './routes.ts';
import type { UploadPlaces } from './transfers.ts';
import { MAX_MESSAGE_BYTES, WindowSocket } from './window-socket.ts';

interface ServerOptions {
  api: Api;
  /** Events for every window. */
  events: EventBus;
  uploads: UploadPlaces;
  /** The built window: the folder with index.html. */
  rendererDir: string;
  log: Logger;
  /** 0: any free port. */
  port: number;
  /** See httpOptions(). */
  patienceMs?: number | undefined;
}

export interface RunningServer {
  readonly port: number;
  /** A one-time URL for one browser. The newest four unused ones are valid. */
  newAddress(): string;
  /** Ends every connection. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const HEARTBEAT_MS = 30_000;

/** Serves windows to browsers on this machine. BAD_ARGUMENT if the port is taken. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { api, events, log } = options;
  const access = new Access();
  const port = (): number => portOf(server);
  const guard = new Guard(access, port);
  // An upload may take any time. The body of any other request is not waited for.
  const bounds = { ...httpOptions(options.patienceMs), requestTimeout: 0 };
  const server = createServer(bounds, createRequests({ ...options, access, guard, port }));
  const sockets = acceptSockets(server, guard, api, `${access.base}socket`);
  const place = { host: LOOPBACK, port: options.port };
  await listen(server, place, 'Choose another with --port, or leave it out to take any that is free.');
  const unsubscribe = events.on((event) => sockets.forEach((socket) => socket.tell(event)));
  const heartbeat = setInterval(() => sockets.forEach((socket) => socket.checkAlive()), HEARTBEAT_MS);
  log.info('server-started', { port: port() });
  return {
    port: port(),
    newAddress: () => `http://${LOOPBACK}:${port()}/?token=${access.newToken()}`,
    close: () => {
      clearInterval(heartbeat);
      unsubscribe();
      sockets.forEach((socket) => socket.end());
      return endServer(server);
    },
  };
}

/** The connected windows. */
function acceptSockets(server: Server, guard: Guard, api: Api, path: string): Set<WindowSocket> {
  const sockets = new Set<WindowSocket>();
  const acceptor = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const refusal = guard.checkHost(request) ?? guard.checkOrigin(request) ?? guard.checkSession(request);
    if (refusal) return refuseUpgrade(stream, refusal.status);
    if (request.url !== path) return refuseUpgrade(stream, 404);
    acceptor.handleUpgrade(request, stream, head, (socket) => {
      const window = new WindowSocket(socket, api);
      sockets.add(window);
      socket.on('close', () => sockets.delete(window));
    });
  });
  return sockets;
}

function refuseUpgrade(stream: Duplex, status: Refusal['status'] | 404): void {
  stream.on('error', () => undefined); // it may be gone already
  stream.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}
