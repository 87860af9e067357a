import { Worker } from 'node:worker_threads';
import { OUT_OF_MEMORY_MARK } from './protocol.ts';

const CHECK_MS = 200;

/** Without import and require: which of them exists depends on how the process was started. */
const WATCH = `
  const { writeSync } = process.getBuiltinModule('node:fs');
  const { workerData: { parent, maxMemoryBytes, mark } } = process.getBuiltinModule('node:worker_threads');
  const end = () => process.kill(process.pid, 'SIGKILL');
  const isGone = () => {
    if (process.ppid !== parent) return true; // adopted by another
    try {
      process.kill(parent, 0);
      return false;
    } catch (error) {
      return error.code === 'ESRCH'; // Windows keeps the old number
    }
  };
  setInterval(() => {
    if (isGone()) return end();
    if (process.memoryUsage.rss() < maxMemoryBytes) return;
    writeSync(2, mark + '\\n');
    end();
  }, ${CHECK_MS});
`;

/**
 * Ends this process when its parent is gone (a killed parent ends no children), or when it exceeds its memory limit (the heap limit does
 * not count buffers). On a separate thread: the main one may be busy with one document for minutes.
 */
export function startWatchdog(maxMemoryBytes: number): void {
  const workerData = { parent: process.ppid, maxMemoryBytes, mark: OUT_OF_MEMORY_MARK };
  new Worker(WATCH, { eval: true, workerData }).unref();
}
