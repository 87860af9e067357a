import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packedPackages } from './packages.ts';
import { packedSbom } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('the SBOM lists every packed package with its checksum, and no other', () => {
  const packages = packedPackages(ROOT);
  const bom = JSON.parse(packedSbom(ROOT, packages)) as {
    bomFormat: string;
    metadata: { component: { name: string } };
    components: { name: string; version: string; hashes: unknown[]; licenses: unknown[] }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  expect([bom.bomFormat, bom.metadata.component.name]).toEqual(['CycloneDX', 'kvasir']);
  const names = packages.map(({ name, version }) => `${name}@${version}`).toSorted();
  const listed = bom.components.map(({ name, version }) => `${name}@${version}`);
  expect([...new Set(listed)].toSorted()).toEqual(names);
  expect(bom.components.filter(({ hashes }) => !hashes?.length)).toEqual([]);
  for (const { ref, dependsOn } of bom.dependencies)
    expect([ref, ...dependsOn].filter((name) => !names.includes(name))).toEqual([]);
});
