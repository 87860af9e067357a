import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { isIP, type AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { createAdaptorServer, type WebSocketServerLike } from '@hono/node-server';
import type { WebSocketServer } from 'ws';
import { KvasirError } from '../../../src-shared/errors.ts';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** Whether a host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host.toLowerCase());
}

/** Names of this machine in Host headers. A foreign domain that resolves to it is not among them. */
export const LOCAL_NAMES: readonly string[] = LOOPBACK.map(bracketed);

/** The name in a Host header. Its port may be that of a reverse proxy. */
export function hostName(header: string): string {
  return header.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** Timeout in milliseconds for the headers, and for each further part of a body. */
const PATIENCE_MS = 60_000;
/** Clients keep idle connections for up to a minute: a server that closes them earlier makes the next request fail. */
const KEEP_ALIVE_MS = 75_000;

interface ListenerOptions {
  /** Answers requests, WebSocket handshakes included. */
  fetch: (request: Request, env: object) => Response | Promise<Response>;
  host: string;
  /** 0: any free port. */
  port: number;
  /** What to do if the port is taken. */
  advice: string;
  /** Files of a certificate and its key, in PEM. */
  tls?: { cert: string; key: string } | undefined;
  /** Takes the connections that `fetch` upgrades. */
  webSockets?: WebSocketServer;
  patienceMs?: number | undefined;
}

export interface Listener {
  readonly port: number;
  /** Scheme, host and port. */
  readonly address: string;
  /** Closes every connection, then resolves. WebSockets must be closed before. */
  close(): Promise<void>;
}

/** BAD_ARGUMENT if the port is taken, the host is not an address of this machine, or the certificate is unusable. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { fetch, host, advice, tls, webSockets, patienceMs = PATIENCE_MS } = options;
  const bounds = {
    headersTimeout: patienceMs,
    requestTimeout: 0, // the body of an upload may take any time; boundBody ends one that stalls
    connectionsCheckingInterval: patienceMs / 4,
    keepAliveTimeout: KEEP_ALIVE_MS,
    ...(webSockets && { shouldUpgradeCallback: isWebSocket }),
  };
  const server = createAdaptorServer({
    fetch,
    overrideGlobalObjects: false,
    ...(webSockets && { websocket: { server: webSockets as WebSocketServerLike } }),
    ...(tls
      ? { createServer: createTlsServer, serverOptions: { ...bounds, ...readCertificate(tls) } }
      : { createServer, serverOptions: bounds }),
  }) as Server;
  server.prependListener('request', (request, response) => boundBody(request, response, patienceMs));
  server.on('checkContinue', (request, response) => {
    // In a response that still waits for the one before it, Node writes "100 Continue" after the headers.
    if (response.socket) response.writeContinue();
    server.emit('request', request, response);
  });
  const listening = once(server, 'listening');
  server.listen(options.port, host);
  try {
    await listening;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `Kvasir cannot listen on port ${options.port} of ${host} (${code}).`;
    throw new KvasirError('BAD_ARGUMENT', message, advice, { cause: error });
  }
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `${tls ? 'https' : 'http'}://${bracketed(host)}:${port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Other upgrades are ignored, and their requests answered as if they asked for none. */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Closes the connection if a request's body stalls, or after the response if the request should have none. */
function boundBody(request: IncomingMessage, response: ServerResponse, patienceMs: number): void {
  const { socket, method, headers } = request;
  socket.setTimeout(patienceMs);
  request.once('end', () => {
    // After the response the idle timeout applies.
    if (!response.writableFinished) socket.setTimeout(0);
  });
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  if (hasBody && /^(GET|HEAD)$/.test(method ?? '')) response.setHeader('Connection', 'close');
}

/** A host in URL notation. */
function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function readCertificate(files: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  try {
    const pair = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
    createSecureContext(pair); // throws if one cannot be used
    return pair;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `The certificate or its key cannot be used (${code}).`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Pass PEM files with --tls-cert and --tls-key.', {
      cause: error,
    });
  }
}
