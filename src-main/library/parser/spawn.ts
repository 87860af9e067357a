import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface SpawnOptions {
  /** Memory of the whole process above which it ends itself. */
  maxMemoryBytes: number;
}

/** Share of the process's memory that is left to the JavaScript heap. */
const HEAP_SHARE = 0.75;

/**
 * Starts the parser process. It may read files and do nothing else: no writing, no other programs, no native code.
 * Under Electron, whose own executable cannot be limited so, it runs as plain Node with the same memory limit.
 */
export function spawnParser({ maxMemoryBytes }: SpawnOptions): ChildProcess {
  const heapMegabytes = Math.max(32, Math.floor((maxMemoryBytes * HEAP_SHARE) / 1024 / 1024));
  const electron = 'electron' in process.versions;
  const child = fork(workerPath(), [String(maxMemoryBytes)], {
    execArgv: [
      `--max-old-space-size=${heapMegabytes}`,
      ...(electron ? [] : ['--permission', '--allow-fs-read=*']),
    ],
    env: { ...process.env, NODE_OPTIONS: '', ...(electron && { ELECTRON_RUN_AS_NODE: '1' }) },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  return child;
}

/** Beside this file in the sources; beside the bundle once built. */
function workerPath(): string {
  const source = fileURLToPath(new URL('./worker.ts', import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL('./parser-worker.js', import.meta.url));
}
