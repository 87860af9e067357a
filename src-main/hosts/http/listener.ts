import { once } from 'node:events';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { KvasirError } from '../../../src-shared/errors.ts';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** Whether a host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host.toLowerCase());
}

/** Names of this machine in Host headers. A foreign domain that resolves to it is not among them. */
export const LOCAL_NAMES: readonly string[] = LOOPBACK.map(bracketed);

/** Ports that clients may omit from Host. */
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Accepted Host headers of a server bound to loopback. */
export function localHosts(
  host: string,
  port: number,
  scheme: keyof typeof DEFAULT_PORTS = 'http',
): string[] {
  const names = (host === 'localhost' ? LOOPBACK : [host, 'localhost']).map(bracketed);
  const full = names.map((name) => `${name}:${port}`);
  return port === DEFAULT_PORTS[scheme] ? [...names, ...full] : full;
}

/** The name in a Host header. Its port may be that of a reverse proxy. */
export function hostName(header = ''): string {
  return header.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** Timeout in milliseconds for the headers, and for each further part of a body. */
const PATIENCE_MS = 60_000;
/** Clients keep idle connections for up to a minute: a server that closes them earlier makes the next request fail. */
const KEEP_ALIVE_MS = 75_000;

export function httpOptions(patienceMs = PATIENCE_MS): ServerOptions {
  return {
    headersTimeout: patienceMs,
    connectionsCheckingInterval: patienceMs / 4,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
}

/** Closes the connection if a request's body stalls. */
export function boundBody(
  request: IncomingMessage,
  response: ServerResponse,
  patienceMs = PATIENCE_MS,
): void {
  const { socket } = request;
  socket.setTimeout(patienceMs);
  request.once('end', () => {
    // After the response the idle timeout applies.
    if (!response.writableFinished) socket.setTimeout(0);
  });
}

/** A host in URL notation. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Port of a listening server. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/**
 * `port` 0: any free port. BAD_ARGUMENT, with `advice`, if the port is taken or the host is not an address of this
 * machine.
 */
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

/** Closes every connection, then resolves. */
export async function endServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
