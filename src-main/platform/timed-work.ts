import { KvasirError } from '../../src-shared/errors.ts';
import type { Core } from './core.ts';
import { failureOf } from './failure.ts';

/**
 * Work of a timer, whose errors nobody catches: they would end the program. A failure of the environment, such as a
 * database that cannot be read, gives people one notice, until the work has succeeded again. Returns whether it
 * succeeded; otherwise it should be run again later. A defect is thrown.
 */
export function timedWork({ events, log }: Pick<Core, 'events' | 'log'>, work: () => void): () => boolean {
  let failed = false;
  return () => {
    try {
      work();
      failed = false;
    } catch (error) {
      if (!(error instanceof KvasirError)) throw error;
      if (!failed) {
        log.warn('timed-work-failed', { error: String(error) });
        events.emit('app.notice', { level: 'warning', failure: failureOf(error) });
      }
      failed = true;
    }
    return !failed;
  };
}
