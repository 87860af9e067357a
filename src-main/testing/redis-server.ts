import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const BINARY = ['/usr/bin/redis-server', '/usr/bin/valkey-server'].find((path) => existsSync(path));

/** Why tests of Redis are skipped here; undefined: they are not. */
export const noRedis =
  BINARY === undefined ? 'neither redis-server nor valkey-server is installed' : undefined;
export const noOpenssl = existsSync('/usr/bin/openssl')
  ? undefined
  : 'openssl, which makes the certificate, is not installed';

export interface TestRedis {
  port: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** It takes connections and answers nothing, until it goes on. */
  hang(): void;
  goOn(): void;
  stop(): Promise<void>;
}

/** A Redis server on loopback that keeps nothing on disk. */
export async function startRedis({
  password,
  port,
  tls,
  memory,
}: {
  password?: string;
  /** Default: a free one. */
  port?: number;
  tls?: { certificate: string; key: string };
  /** Bytes it may use at most. */
  memory?: number;
} = {}): Promise<TestRedis> {
  if (BINARY === undefined) throw new Error('startRedis: there is none');
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-redis-'));
  const at = port ?? (await freePort());
  const child = spawn(
    BINARY,
    [
      ...['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', dir],
      ...(tls
        ? [
            '--port',
            '0',
            '--tls-port',
            String(at),
            '--tls-cert-file',
            tls.certificate,
            '--tls-key-file',
            tls.key,
            '--tls-auth-clients',
            'no',
          ]
        : ['--port', String(at)]),
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...(memory === undefined ? [] : ['--maxmemory', String(memory)]),
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill('SIGCONT');
    child.kill(signal);
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  while (!(await answers(at))) await wait(20);
  return {
    port: at,
    kill: () => end('SIGKILL'),
    hang: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    stop: () => end('SIGTERM'),
  };
}

/** An authority and a certificate of its for localhost, in a folder. */
export function makeCertificate(dir: string): { authority: string; certificate: string; key: string } {
  const at = (name: string): string => join(dir, name);
  const openssl = (...flags: string[]): void => void execFileSync('openssl', flags, { stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '2',
    '-subj',
    '/CN=Test authority',
  );
  openssl('req', ...key, '-keyout', at('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost');
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost');
  openssl(
    ...[
      'x509',
      '-req',
      '-in',
      at('server.csr'),
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
      '-CAcreateserial',
    ],
    ...['-out', at('server.pem'), '-days', '2', '-extfile', at('names')],
  );
  return { authority: at('ca.pem'), certificate: at('server.pem'), key: at('server.key') };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
