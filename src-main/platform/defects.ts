import { traceOf } from './failure.ts';
import type { Logger } from './logger.ts';

/**
 * Writes down what nobody caught. A promise that nobody waited for is work that is lost and nothing else, since what
 * is kept is changed in transactions: the program goes on, so that answers and uploads in the making are not lost with
 * it. An exception ends the program as before. Gives a function that ends this.
 */
export function logDefects(log: Logger): () => void {
  const onRejection = (error: unknown): void => log.error('unhandled-rejection', { error: traceOf(error) });
  const onException = (error: Error): void => log.error('defect', { error: traceOf(error) });
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtExceptionMonitor', onException);
  return () => {
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtExceptionMonitor', onException);
  };
}
