import { execFileSync } from 'node:child_process';
import type { Package } from './packages.ts';

/** The parts of a CycloneDX document that are changed here. */
interface Bom {
  metadata: { component: { name: string } };
  components: { 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/**
 * The packed packages as a CycloneDX document (https://cyclonedx.org/specification/overview/), as npm writes it from the lock file, with
 * the checksums of their archives. npm lists what is installed, tools too.
 */
export function packedSbom(root: string, packages: readonly Package[]): string {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  // npm is a .cmd file on Windows, which only a shell can start.
  const options = { cwd: root, shell: process.platform === 'win32', maxBuffer: 64 * 1024 * 1024 };
  const bom = JSON.parse(execFileSync('npm', args, options).toString()) as Bom;
  const packed = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  bom.metadata.component.name = 'kvasir'; // npm names it by its folder
  bom.components = bom.components.filter((component) => packed.has(component['bom-ref']));
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => packed.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => packed.has(other)) }));
  return `${JSON.stringify(bom, null, 2)}\n`;
}
