import { KvasirError } from '../../../../src-shared/errors.ts';
import { createApp } from '../app.ts';
import { isLoopback, listen, LOCAL_NAMES, type Listener } from '../listener.ts';
import { Secrets } from '../../../platform/secrets.ts';
import type { ApiCore } from './core.ts';
import { ApiMetrics } from './metrics.ts';
import { apiRoutes } from './routes.ts';

interface ApiOptions extends Omit<ApiCore, 'clock'> {
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
}

/** Serves other programs. BAD_ARGUMENT without keys when bound beyond this machine, or if the port is taken. */
export async function startApi(options: ApiOptions): Promise<Listener> {
  const { host, port, keys, tls, origins, log, hostNames = [] } = options;
  const local = isLoopback(host);
  if (!local && keys.length === 0) throw needsKeys(host);
  const metrics = new ApiMetrics(options.completions);
  const hosts = local ? [...LOCAL_NAMES, ...hostNames.map((name) => name.toLowerCase())] : undefined;
  const routes = apiRoutes(
    { ...options, clock: Date.now },
    { keys: new Secrets(keys), origins, hosts },
    metrics,
  );
  const { fetch } = createApp(routes, log);
  const listener = await listen({ fetch, host, port, tls, advice: 'Choose others with --host and --port.' });
  log.info('api-started', { host, port: listener.port });
  return {
    ...listener,
    close: () => {
      metrics.close();
      return listener.close();
    },
  };
}

function needsKeys(host: string): KvasirError {
  const message = `Anybody who can reach ${host} could use this server: beyond this machine it requires a key.`;
  return new KvasirError('BAD_ARGUMENT', message, 'Pass a file of keys with --api-key-file.');
}
