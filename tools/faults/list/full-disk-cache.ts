import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROGRAM } from '../../setup/platform.mjs';
import { FaultSkipped, type Fault } from '../fault.ts';

/** A disk without a free byte: operations that free space still work. */
export const fullDiskCache: Fault = {
  name: 'full disk, cache emptied',
  covers: 'on a disk without a free byte the cache can still be emptied',
  async run({ data, random }) {
    const disk = join(data, '..', 'disk');
    mkdirSync(disk, { recursive: true });
    if (!mounted(disk)) throw new FaultSkipped('a disk that may be filled (Linux, as root)');
    try {
      const place = join(disk, 'data');
      cpSync(data, place, { recursive: true });
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - random(3) * bsize));
      await promisify(execFile)(process.execPath, [PROGRAM, 'cache', 'evict', '--all', '--data', place]);
      const chunks = readdirSync(join(place, 'cache', 'chunks'), { recursive: true, encoding: 'utf8' });
      const left = chunks.filter((name) => name.endsWith('.kvc'));
      if (left.length > 0) throw new Error(`${left.length} chunks are left`);
      rmSync(join(disk, 'filler'));
      rmSync(data, { recursive: true });
      cpSync(place, data, { recursive: true });
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  },
};

function mounted(dir: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', dir], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
