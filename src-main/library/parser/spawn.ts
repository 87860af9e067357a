import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface SpawnOptions {
  /** Memory of the whole process above which it exits. */
  maxMemoryBytes: number;
}

/** How a host starts the parser process. The result must implement the part of a child process that ParserProcess uses. */
export type SpawnParser = (options: SpawnOptions) => ChildProcess;

/** Share of the process's memory that is available to the JavaScript heap. */
const HEAP_SHARE = 0.75;

/**
 * Starts another Node process that may read files and do nothing else: no writing, no other programs, no native code, no connections, and
 * no environment variables of this one (confine.ts).
 */
export function spawnParser({ maxMemoryBytes }: SpawnOptions): ChildProcess {
  const heapMegabytes = Math.max(32, Math.floor((maxMemoryBytes * HEAP_SHARE) / 1024 / 1024));
  return fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [String(maxMemoryBytes)], {
    execArgv: [
      `--max-old-space-size=${heapMegabytes}`,
      '--permission',
      '--allow-fs-read=*',
      '--allow-worker',
    ],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
