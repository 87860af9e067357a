import type { AutomaticDevice } from '../../src-shared/contract/devices.ts';
import type { TriedDevice } from './devices-file.ts';

/**
 * Picks the fastest working GPU among the tested devices if it is faster than the CPU. `waiting`: some tests are still
 * pending.
 */
export function automaticDevice(tried: readonly TriedDevice[], waiting: boolean): AutomaticDevice {
  const good = tried.filter(({ failure }) => failure === null);
  const speed = ({ tokensPerSecond }: TriedDevice): number => tokensPerSecond ?? 0;
  const [best] = good
    .filter((each) => speed(each) > (each.cpuTokensPerSecond ?? 0))
    .sort((a, b) => speed(b) - speed(a));
  if (best) return { device: best.name, why: 'fastest' };
  if (waiting) return { device: 'cpu', why: 'untested' };
  return { device: 'cpu', why: good.length > 0 ? 'cpu-faster' : 'none-works' };
}
