import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { getRequestListener } from '@hono/node-server';
import { KvasirError } from '../../../../src-shared/errors.ts';
import {
  boundBody,
  bracketed,
  endServer,
  httpOptions,
  isLoopback,
  listen,
  LOCAL_NAMES,
  portOf,
} from '../listener.ts';
import type { ApiCore } from './core.ts';
import { ApiKeys } from '../secrets.ts';
import { ApiMetrics } from './metrics.ts';
import { createRoutes } from './routes.ts';

interface ApiServerOptions extends Omit<ApiCore, 'clock'> {
  host: string;
  /** 0: any free port. */
  port: number;
  keys: readonly string[];
  /** Files of a certificate and its key, in PEM. */
  tls?: { cert: string; key: string } | undefined;
  /** Origins whose pages may send requests. */
  origins: readonly string[];
  /** Accepted Host names in addition to those of this machine. */
  hostNames?: readonly string[] | undefined;
  /** See boundBody. */
  patienceMs?: number | undefined;
}

export interface RunningApi {
  readonly address: string;
  /** Closes every connection, then resolves. */
  close(): Promise<void>;
}

/** Serves other programs. BAD_ARGUMENT without keys when bound beyond this machine, or if the port is taken. */
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
  const message = `Anybody who can reach ${host} could use this server: beyond this machine it requires a key.`;
  return new KvasirError('BAD_ARGUMENT', message, 'Pass a file of keys with --api-key-file.');
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
    throw new KvasirError('BAD_ARGUMENT', message, 'Pass PEM files with --tls-cert and --tls-key.', {
      cause: error,
    });
  }
}
