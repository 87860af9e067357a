import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { utilityProcess, type ForkOptions, type UtilityProcess } from 'electron';
import { appRoot } from '../../platform/root.ts';

/**
 * Starts one of our processes under Electron: its executable does not run as plain Node (a fuse forbids it), but has
 * utility processes, which communicate through a port. `name`: the file in out/main.
 */
export function forkUtility(name: string, args: string[], options: ForkOptions): ChildProcess {
  const child = utilityProcess.fork(join(appRoot(), 'out', 'main', `${name}.js`), args, options);
  // UtilityChild implements the part of ChildProcess that callers use.
  return new UtilityChild(child) as unknown as ChildProcess;
}

/** A utility process with the interface of a child process. */
class UtilityChild extends EventEmitter {
  readonly channel = null;
  readonly stderr: Readable | null;
  readonly #child: UtilityProcess;

  constructor(child: UtilityProcess) {
    super();
    this.#child = child;
    this.stderr = child.stderr as Readable | null;
    child.on('message', (message: unknown) => this.emit('message', message));
    child.on('exit', (code) => this.emit('close', code, null));
  }

  send(message: unknown, sent: (error: Error | null) => void): boolean {
    this.#child.postMessage(message);
    sent(null);
    return true;
  }

  kill(): boolean {
    return this.#child.kill();
  }

  /** Utility processes never keep the app open. */
  ref(): void {}
  unref(): void {}
}
