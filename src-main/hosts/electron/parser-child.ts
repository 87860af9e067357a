import type { ChildProcess } from 'node:child_process';
import type { SpawnOptions } from '../../library/parser/spawn.ts';
import { QUERY_MEMORY_BYTES } from '../../library/tables/query-process.ts';
import { forkUtility } from './utility-child.ts';

/** Share of the process's memory that is left to the JavaScript heap, as in the headless host. */
const HEAP_SHARE = 0.75;

/** Starts the parser's process under Electron. */
export function spawnParserChild({ maxMemoryBytes }: SpawnOptions): ChildProcess {
  const heapMegabytes = Math.max(32, Math.floor((maxMemoryBytes * HEAP_SHARE) / 1024 / 1024));
  return forkUtility('parser', [String(maxMemoryBytes)], {
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    stdio: ['ignore', 'ignore', 'pipe'],
    serviceName: 'Kvasir document reader',
  });
}

/** Starts the process in which statements run over tables. */
export function spawnQueryChild(): ChildProcess {
  return forkUtility('query', [String(QUERY_MEMORY_BYTES)], {
    stdio: 'ignore',
    serviceName: 'Kvasir tables',
  });
}
