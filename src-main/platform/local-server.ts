import { once } from 'node:events';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { KvasirError } from '../../src-shared/errors.ts';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** Whether what listens there is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host.toLowerCase());
}

/** Names of this machine in Host. A name that a foreign page has resolve to it is not among them. */
export const LOCAL_NAMES: readonly string[] = LOOPBACK.map(bracketed);

/** Ports that clients may leave out of Host. */
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** What requests to a server on this machine alone have in Host. */
export function localHosts(
  host: string,
  port: number,
  scheme: keyof typeof DEFAULT_PORTS = 'http',
): string[] {
  const names = (host === 'localhost' ? LOOPBACK : [host, 'localhost']).map(bracketed);
  const full = names.map((name) => `${name}:${port}`);
  return port === DEFAULT_PORTS[scheme] ? [...names, ...full] : full;
}

/** The name in a Host header. Its port may be that of a proxy before the server. */
export function hostName(header = ''): string {
  return header.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** In which headers have to arrive, and in which more of a body has to. */
const PATIENCE_MS = 60_000;
/** Clients keep idle connections for up to a minute: a server that closes them earlier fails the next request. */
const KEEP_ALIVE_MS = 75_000;

export function httpOptions(patienceMs = PATIENCE_MS): ServerOptions {
  return {
    headersTimeout: patienceMs,
    connectionsCheckingInterval: patienceMs / 4,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
}

/** Ends the connection when a request's body stops arriving. */
export function boundBody(
  request: IncomingMessage,
  response: ServerResponse,
  patienceMs = PATIENCE_MS,
): void {
  const { socket } = request;
  socket.setTimeout(patienceMs);
  request.once('end', () => {
    // After the answer it is the timeout of an idle connection.
    if (!response.writableFinished) socket.setTimeout(0);
  });
}

/** A host as addresses have it. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Of a server that listens. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** `port` 0: any that is free. BAD_ARGUMENT, with `advice`, when it is taken or is none of this machine's. */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
  advice: string,
): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `Kvasir cannot listen on port ${port} of ${host} (${code}).`;
    throw new KvasirError('BAD_ARGUMENT', message, advice, { cause: error });
  }
}

/** Ends every connection, and what it waits for. */
export async function endServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
