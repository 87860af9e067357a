import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM, ROOT } from '../../../tools/setup/platform.mjs';

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/;
const START_MS = 120_000;

/** An empty home folder: tests must not see the models of the person who runs them. */
export const NO_MODELS = '/no-models-here';

export interface RunningApp {
  /** The one-time URL it printed. */
  url: string;
  origin: string;
  dataDir: string;
  process: ChildProcess;
  /** Everything it has printed so far. */
  output(): string;
  /** Sends SIGINT, like Ctrl-C. */
  stop(): Promise<void>;
  /** Kills the process, like a power failure. */
  kill(): Promise<void>;
}

export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'kvasir-window-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/**
 * Starts the server host as `npm start` does, without opening a browser. `modelsHome`: the home folder searched for
 * models of other apps.
 */
export async function startApp(
  dataDir: string,
  flags: readonly string[] = [],
  modelsHome = NO_MODELS,
  environment: Record<string, string> = {},
): Promise<RunningApp> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--no-open', '--data', dataDir, ...flags], {
    cwd: ROOT,
    env: { ...process.env, KVASIR_MODELS_HOME: modelsHome, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`The app ${why}. It printed:\n${text}`));
    const timer = setTimeout(() => fail(`printed no address within ${START_MS / 1000} s`), START_MS);
    const read = (data: Buffer): void => {
      text += data.toString();
      const address = ADDRESS.exec(text)?.[0];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    // Not 'exit': the last output may not have been read by then.
    child.once('close', (code) => fail(`ended with ${code}`));
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return {
    url,
    origin: new URL(url).origin,
    dataDir,
    process: child,
    output: () => text,
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
  };
}
