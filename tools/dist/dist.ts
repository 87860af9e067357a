/**
 * Installers for the system this runs on, in dist/: an AppImage and a deb, a dmg, or an NSIS installer.
 *
 *   npm run dist [-- --dir] [-- any option of electron-builder]
 *
 * --dir packs the folder that is installed and makes no installer of it. Electron's binary is fetched where it is missing. KVASIR_UPDATES is the
 * address of the server that the app looks for updates at (electron-updater's "generic"); without it, it looks nowhere. The registry that npm is
 * set to here is the one that the app fetches packs for GPUs from. Signing and
 * notarisation go by electron-builder's own variables; docs/packaging.md has them.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressIn, askNpm } from '../../src-main/devices/packs/registry.ts';
import { licencesText, unknownLicences } from './licences.ts';
import { packedPackages } from './packages.ts';

const root = join(import.meta.dirname, '..', '..');
const packages = packedPackages(root);
const unknown = unknownLicences(packages);
if (unknown.length > 0) {
  console.error(`Not packed: nobody has looked at the licences of ${unknown.join(', ')}.`);
  process.exit(1);
}
writeFileSync(join(root, 'build', 'licences.txt'), licencesText(packages));

const updates = process.env.KVASIR_UPDATES;
const feed = updates === undefined ? [] : ['-c.publish.provider=generic', `-c.publish.url=${updates}`];
const registry = addressIn(await askNpm(root));
const packs = registry === undefined ? [] : [`-c.extraMetadata.registry=${registry}`];
const builder = join(root, 'node_modules', 'electron-builder', 'cli.js');
execFileSync(process.execPath, [builder, '--publish', 'never', ...feed, ...packs, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
