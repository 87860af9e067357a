import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import type { CallResult } from '../../../src-shared/contract/bridge.ts';
import { SocketCalls } from '../../../src-shared/contract/socket-calls.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { failureOf } from '../../platform/failure.ts';
import { CoreClient } from './client.ts';
import { readHostFile } from './host-file.ts';

/**
 * Timeout in milliseconds for an owner to accept a client: for a suspended one, the system accepts connections, but
 * nothing responds.
 */
const ACCEPTED_MS = 5000;

/**
 * A client of the process that owns a data folder. undefined: it was not accepted, because the owner has another
 * version, is starting or ending, does not respond, or accepts no clients, or because the signal aborted.
 */
export async function connectOwner(
  data: string,
  version: string,
  { signal, acceptedMs = ACCEPTED_MS }: { signal?: AbortSignal; acceptedMs?: number } = {},
): Promise<CoreClient | undefined> {
  const host = readHostFile(data);
  if (host?.program !== version || signal?.aborted) return undefined;
  const socket = new WebSocket('ws://kvasir/', {
    createConnection: () => connect({ path: host.socket, timeout: acceptedMs }),
    headers: { Authorization: host.token },
    handshakeTimeout: acceptedMs,
    perMessageDeflate: false,
  });
  socket.on('error', () => undefined); // 'close' follows
  const stop = (): void => socket.terminate();
  signal?.addEventListener('abort', stop, { once: true });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await Promise.race([once(socket, 'open'), closed]).catch(() => undefined);
  signal?.removeEventListener('abort', stop);
  return socket.readyState === socket.OPEN ? clientOn(socket, closed) : undefined;
}

function clientOn(socket: WebSocket, closed: Promise<void>): CoreClient {
  const calls = new SocketCalls();
  const failure = new KvasirError(
    'CONNECTION_LOST',
    'The Kvasir that ran this command has ended before it was done.',
    'Run the command again.',
  );
  const failed: CallResult = { ok: false, error: failureOf(failure) };
  socket.on('message', (data: Buffer) => calls.receive(String(data)));
  const lost = closed.then(() => {
    calls.fail(failed);
    throw failure;
  });
  lost.catch(() => undefined); // also reported by each call
  return new CoreClient({
    call: (name, input) =>
      socket.readyState === socket.OPEN
        ? calls.call(name, input, (text) => socket.send(text))
        : Promise.resolve(failed),
    onEvent: (listener) => calls.onEvent(listener),
    lost,
    disconnect: () => socket.terminate(),
  });
}
