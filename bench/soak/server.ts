import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { App } from '../../src-main/app.ts';
import { readLibrary } from '../../e2e/support/library.ts';
import { NODE_FLAGS, PROGRAM } from '../../tools/setup/platform.mjs';
import { processFigures } from '../lib/process.ts';

export interface SoakServer {
  baseURL: string;
  /** Resident memory of its process; NaN if the system does not report it. */
  rssMiB(): number;
  stop(): Promise<void>;
}

const WAIT_MS = 100;

/** Starts the real server in a separate process and waits until it has read the sample library and loaded the demo model. */
export async function startServer(data: string): Promise<SoakServer> {
  const app = await App.open({ dataDir: data });
  await readLibrary(app);
  await app.close();

  const child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM, 'serve', '--api', '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const origin = async (): Promise<string> => {
    for (;;) {
      const [, found] = /^(http:\/\/\S+)\/v1$/m.exec(printed) ?? [];
      if (found !== undefined && (await fetch(`${found}/health`)).ok) return found;
      if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`);
      await sleep(WAIT_MS);
    }
  };
  return {
    baseURL: `${await origin()}/v1`,
    rssMiB: () => processFigures(child.pid ?? 0).rssMiB,
    stop: async () => {
      child.kill('SIGINT');
      await ended;
    },
  };
}
