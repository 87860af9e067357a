/**
 * Builds installers for the current system into dist/: an AppImage and a deb, a dmg, or an NSIS installer.
 *
 *   npm run dist [-- --dir] [-- any electron-builder option]
 *
 * --dir builds the unpacked application folder without an installer. A missing Electron binary is downloaded. KVASIR_UPDATES is the URL of
 * the update server (electron-updater's "generic" provider); without it, the app does not check for updates. The app downloads GPU packs
 * from the npm registry that is configured at build time. Signing and notarisation use electron-builder's own variables; see
 * docs/packaging.md.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressIn, askNpm } from '../../src-main/devices/packs/registry.ts';
import { removeReplacedFiles } from '../setup/steps/program.mjs';
import { licencesText, unknownLicences } from './licences.ts';
import { packedPackages } from './packages.ts';
import { packedSbom } from './sbom.ts';

removeReplacedFiles();
const root = join(import.meta.dirname, '..', '..');
const packages = packedPackages(root);
const unknown = unknownLicences(packages);
if (unknown.length > 0) {
  console.error(`Not packed: the licences of ${unknown.join(', ')} have not been reviewed.`);
  process.exit(1);
}
writeFileSync(join(root, 'build', 'licences.txt'), licencesText(packages));
writeFileSync(join(root, 'build', 'sbom.json'), packedSbom(root, packages));

const updates = process.env.KVASIR_UPDATES;
const feed = updates === undefined ? [] : ['-c.publish.provider=generic', `-c.publish.url=${updates}`];
const registry = addressIn(await askNpm(root));
const packs = registry === undefined ? [] : [`-c.extraMetadata.registry=${registry}`];
const builder = join(root, 'node_modules', 'electron-builder', 'cli.js');
execFileSync(process.execPath, [builder, '--publish', 'never', ...feed, ...packs, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
