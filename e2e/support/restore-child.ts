/** The first step of a start: node restore-child.ts <data folder>. */
import { join } from 'node:path';
import { applyRestore } from '../../src-main/backup/apply-restore.ts';
import { removeLeftovers } from '../../src-main/leftovers.ts';
import { silentLogger } from '../../src-main/platform/logger.ts';

export function startOn(data: string): void {
  applyRestore(data, join(data, 'cache'));
  removeLeftovers(data, () => false, silentLogger);
}

if (process.argv[1] === import.meta.filename) startOn(process.argv[2] ?? '');
