import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The event loop is at rest below this share of the time. */
const REST = 0.02;

/**
 * Returns a function to call at intervals. When the event loop has rested since the call before, it collects garbage and returns the heap's
 * free pages to the system; it does so again only after more work. V8 returns them by itself only when memory is short, and held a third of
 * the program's memory after 500 questions. A collection takes 75 ms for a heap of 50 MB.
 */
export function heapAtRest(loop: Pick<typeof performance, 'eventLoopUtilization'> = performance): () => void {
  let before = loop.eventLoopUtilization();
  let worked = true;
  return () => {
    const now = loop.eventLoopUtilization();
    const { utilization } = loop.eventLoopUtilization(now, before);
    before = now;
    const rests = utilization < REST;
    if (rests && worked) collect();
    worked = !rests;
  };
}

/** Does nothing in Electron, where it has not been tried: a process ends if its V8 refuses a flag while it runs. */
function collect(): void {
  if ('electron' in process.versions) return;
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  gc({ type: 'major', flavor: 'last-resort' });
}
