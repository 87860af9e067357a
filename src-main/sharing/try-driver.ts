import { randomBytes } from 'node:crypto';
import type { Sharing } from '../../src-shared/sharing.ts';
import { CallLimiter } from './call-limiter.ts';
import type { ValueSource } from './driver.ts';
import { SharingError } from './failures.ts';
import { openDriver, type GetSecret } from './open-driver.ts';

/**
 * Writes, reads and deletes a small value with the given settings; only looks it up if read-only. Throws on failure.
 */
export async function tryDriver(sharing: Sharing, secret: GetSecret): Promise<void> {
  const driver = await openDriver(sharing, secret);
  const asking = new CallLimiter();
  const name = randomBytes(32).toString('hex');
  const small = randomBytes(1024);
  const value: ValueSource = {
    bytes: small.length,
    // eslint-disable-next-line @typescript-eslint/require-await -- one that has its bytes already
    async *pieces() {
      yield small;
    },
  };
  try {
    if (sharing.readOnly) {
      await asking.within(0, (signal) => driver.read(name, 0, 1, signal));
      await asking.within(0, (signal) => driver.sizes([name], signal));
      return;
    }
    await asking.within(0, (signal) => driver.write(name, value, signal));
    const read = await asking.within(0, (signal) => driver.read(name, 1, small.length, signal));
    if (!small.subarray(1).equals(read))
      throw new SharingError('damaged', 'what was read is not what was written');
    await asking.within(0, (signal) => driver.remove(name, signal));
  } finally {
    driver.reset();
  }
}
