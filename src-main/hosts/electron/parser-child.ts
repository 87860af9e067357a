import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { utilityProcess, type UtilityProcess } from 'electron';
import type { SpawnOptions } from '../../library/parser/spawn.ts';
import { appRoot } from '../../platform/root.ts';

/** Share of the process's memory that is left to the JavaScript heap, as in the headless host. */
const HEAP_SHARE = 0.75;

/**
 * Starts the parser's process under Electron: its executable does not run as plain Node (a fuse forbids it), but has
 * utility processes, which speak through a port.
 */
export function spawnParserChild({ maxMemoryBytes }: SpawnOptions): ChildProcess {
  const heapMegabytes = Math.max(32, Math.floor((maxMemoryBytes * HEAP_SHARE) / 1024 / 1024));
  const child = utilityProcess.fork(join(appRoot(), 'out', 'main', 'parser.js'), [String(maxMemoryBytes)], {
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    stdio: ['ignore', 'ignore', 'pipe'],
    serviceName: 'Kvasir document reader',
  });
  // The parser uses of a ChildProcess what UtilityChild has.
  return new UtilityChild(child) as unknown as ChildProcess;
}

/** A utility process with the face of a child process. */
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
