import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Failure } from '../../../src-shared/contract/common.ts';
import type { Logger } from '../../platform/logger.ts';
import { otherReleaseFailure } from '../failures.ts';
import type { PackPins } from './pins.ts';

/** Folder of the packs downloaded for one release. */
export function releaseFolder(dir: string, release: string): string {
  return join(dir, release);
}

/**
 * Files of all installed packs: those that setup put into the build, and those that the app downloaded for this
 * release.
 */
export function installedPacks(built: readonly string[], dir: string, { release, pins }: PackPins): string[] {
  const fetched = pins
    .map(({ library }) => join(releaseFolder(dir, release), library))
    .filter((path) => existsSync(path) && !built.some((other) => basename(other) === basename(path)));
  return [...built, ...fetched];
}

/**
 * Removes packs downloaded for other releases and returns a notice for each. A pack that cannot be removed stays but is
 * never loaded.
 */
export function removeOtherReleases(dir: string, release: string, log: Logger): Failure[] {
  const others = (existsSync(dir) ? readdirSync(dir) : []).filter((name) => name !== release);
  return others.flatMap((other) => {
    const folder = releaseFolder(dir, other);
    try {
      const packs = readdirSync(folder).filter((name) => /\.(so|dll)$/.test(name));
      rmSync(folder, { recursive: true });
      return packs.map((pack) => otherReleaseFailure(pack, other, release));
    } catch (error) {
      log.warn('pack-not-removed', { folder, error: String(error) });
      return [];
    }
  });
}
