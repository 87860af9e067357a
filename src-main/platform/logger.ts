import { appendFileSync, renameSync, statSync } from 'node:fs';
import { systemClock, type Clock } from './clock.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** Written as JSON. */
type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

const LEVELS: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };
const MAX_LOG_BYTES = 5 * 1024 * 1024;

/**
 * One JSON object per line, appended to `path`. Logging never fails a run: if the file is not writable (read-only
 * folder, full disk), lines are lost. A file over 5 MB is moved to `<path>.1` at start.
 */
export function fileLogger(
  path: string,
  minimum: LogLevel | (() => LogLevel) = 'info',
  clock: Clock = systemClock,
): Logger {
  rotate(path);
  const least = typeof minimum === 'function' ? minimum : (): LogLevel => minimum;
  const write = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    if (LEVELS[level] < LEVELS[least()]) return;
    const line = JSON.stringify({ time: new Date(clock.wall()).toISOString(), level, event, ...fields });
    try {
      appendFileSync(path, `${line}\n`);
    } catch {
      // A failing log must not stop the work it describes.
    }
  };
  return {
    debug: (event, fields) => write('debug', event, fields),
    info: (event, fields) => write('info', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    error: (event, fields) => write('error', event, fields),
  };
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

function rotate(path: string): void {
  try {
    if (statSync(path).size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  } catch {
    // No log yet, or no permission to move it: both are fine.
  }
}
