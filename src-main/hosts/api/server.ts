import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { getRequestListener } from '@hono/node-server';
import { KvasirError } from '../../../src-shared/errors.ts';
import {
  boundBody,
  bracketed,
  endServer,
  httpOptions,
  isLoopback,
  listen,
  LOCAL_NAMES,
  portOf,
} from '../../platform/local-server.ts';
import type { ApiCore } from './core.ts';
import { ApiKeys } from './keys.ts';
import { ApiMetrics } from './metrics.ts';
import { createRoutes } from './routes.ts';

interface ApiServerOptions extends Omit<ApiCore, 'clock'> {
  host: string;
  /** 0: any that is free. */
  port: number;
  keys: readonly string[];
  /** Files of a certificate and its key, in PEM. */
  tls?: { cert: string; key: string } | undefined;
  /** Pages of these origins may ask. */
  origins: readonly string[];
  /** Names in Host that are answered besides those of this machine. */
  hostNames?: readonly string[] | undefined;
  /** As boundBody has it. */
  patienceMs?: number | undefined;
}

export interface RunningApi {
  readonly address: string;
  /** Ends every connection, and what it waits for. */
  close(): Promise<void>;
}

/** Serves other programs. BAD_ARGUMENT without keys beyond this machine, or when the port is taken. */
export async function startApi(options: ApiServerOptions): Promise<RunningApi> {
  const { host, keys, tls, log, patienceMs, hostNames = [] } = options;
  const local = isLoopback(host);
  if (!local && keys.length === 0) throw needsKeys(host);
  const metrics = new ApiMetrics(options.completions);
  const routes = createRoutes(
    { ...options, clock: Date.now },
    {
      keys: new ApiKeys(keys),
      origins: options.origins,
      hosts: local ? [...LOCAL_NAMES, ...hostNames.map((name) => name.toLowerCase())] : undefined,
    },
    metrics,
  );
  const listener = getRequestListener(routes.fetch, { overrideGlobalObjects: false });
  const answer: RequestListener = (request, response) => {
    boundBody(request, response, patienceMs);
    void listener(request, response);
  };
  const bounds = httpOptions(patienceMs);
  const server = tls ? secureServer(tls, bounds, answer) : createServer(bounds, answer);
  await listen(server, options, 'Choose others with --host and --port.');
  log.info('api-started', { host, port: portOf(server) });
  return {
    address: `${tls ? 'https' : 'http'}://${bracketed(host)}:${portOf(server)}`,
    close: () => {
      metrics.close();
      return endServer(server);
    },
  };
}

function needsKeys(host: string): KvasirError {
  const message = `Whoever reaches ${host} could ask this server anything: beyond this machine it wants a key.`;
  return new KvasirError('BAD_ARGUMENT', message, 'Name a file with keys by --api-key-file.');
}

function secureServer(
  { cert, key }: { cert: string; key: string },
  bounds: ServerOptions,
  listener: RequestListener,
): Server {
  try {
    return createTlsServer({ ...bounds, cert: readFileSync(cert), key: readFileSync(key) }, listener);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const message = `The certificate or its key cannot be used (${code}).`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Name files in PEM by --tls-cert and --tls-key.', {
      cause: error,
    });
  }
}
