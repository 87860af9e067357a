import { traceOf } from './failure.ts';
import type { Logger } from './logger.ts';

/**
 * Logs uncaught errors. After an unhandled rejection the program continues: only that work is lost, since data changes
 * in transactions, and answers and uploads in progress must not be lost with it. An exception ends the program as
 * before. Returns a function that stops the logging.
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
