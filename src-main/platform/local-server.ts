import { once } from 'node:events';
import type { Server } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { KvasirError } from '../../src-shared/errors.ts';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** Whether what listens there is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host);
}

/** What requests to a server on this machine alone have in Host. A name that a foreign page has resolve to it is not among them. */
export function localHosts(host: string, port: number): string[] {
  const names = host === 'localhost' ? LOOPBACK : [host, 'localhost'];
  return names.map((name) => `${bracketed(name)}:${port}`);
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
