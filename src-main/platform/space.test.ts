import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { requireSpace, spaceOf } from './space.ts';

describe('Disk space', () => {
  test('of a disk that reports it bounds what may be written', async () => {
    const dir = tmpdir();
    const space = await spaceOf(dir);
    expect(space?.total).toBeGreaterThan(space?.free ?? Infinity);
    await expect(requireSpace(dir, 2 * (space?.total ?? 0), 'A file', 0)).rejects.toThrow(
      /^A file of .* does not fit the disk of /,
    );
  });

  // Some network drives count no blocks at all; that does not mean that they are full.
  test.runIf(process.platform === 'linux')('of a disk that does not report it refuses nothing', async () => {
    expect(await spaceOf('/proc')).toBeUndefined();
    await requireSpace('/proc', 1e15, 'A file');
  });
});
