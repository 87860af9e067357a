/** A server of another project, started by the command that an environment variable holds. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

/** Sent to servers that check a key. */
export const SERVER_KEY = 'sk-real-0123456789abcdef';

/** How long a server may load its model. */
const START_MS = 840_000;

export interface RealServer {
  /** Including /v1. */
  address: string;
  /** SIGKILL to the server and all its processes; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again at the same address; resolves when it lists its models. */
  start(): Promise<void>;
}

/** `command`: run by a shell, with {port} and {key} replaced. */
export async function realServer(command: string): Promise<RealServer> {
  const port = await freePort();
  const line = command.replaceAll('{port}', String(port)).replaceAll('{key}', SERVER_KEY);
  let child: ChildProcess | undefined;
  const server: RealServer = {
    address: `http://127.0.0.1:${port}/v1`,
    kill: async () => {
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'close');
      process.kill(-child.pid, 'SIGKILL');
      await gone;
    },
    start: async () => {
      // A separate process group: vLLM runs its engine in a second process.
      const started = spawn('/bin/sh', ['-c', line], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
      child = started;
      let said = '';
      for (const stream of [started.stdout, started.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
      const until = Date.now() + START_MS;
      while (!(await lists(server.address))) {
        if (started.exitCode !== null || Date.now() > until) {
          await server.kill();
          throw new Error(`the server did not start: ${line}\n${said}`);
        }
        await wait(500);
      }
    },
  };
  return server;
}

async function lists(address: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${SERVER_KEY}` };
  try {
    return (await fetch(`${address}/models`, { headers, signal: AbortSignal.timeout(30_000) })).ok;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
