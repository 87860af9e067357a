import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** A package that is part of what people install. */
export interface Package {
  name: string;
  version: string;
  license: string;
  /** The texts of its licence files, and notices that it asks to keep. */
  texts: string[];
}

interface Manifest {
  name?: string;
  version?: string;
  license?: string | { type: string };
}

interface Lock {
  packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>;
}

const TEXTS = /^(licen[cs]e|copying|notice)/i;
/** Of which nothing is packed: Node for running from source, headers, and what draws pages of PDF. */
const LEFT_OUT = /^node_modules\/(node-(bin-)?(linux|win|darwin)-|node-addon-api|@napi-rs\/)/;

/**
 * What is packed, by name: production packages as the lock file has them, as far as this system has them (libraries of other systems are
 * not installed), and those that the window is made of, which its build lists in out/renderer-packages.json.
 */
export function packedPackages(root: string): Package[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const production = Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path]) => path)
    .filter((path) => !LEFT_OUT.test(path));
  const listed = join(root, 'out', 'renderer-packages.json');
  const window = existsSync(listed) ? (JSON.parse(readFileSync(listed, 'utf8')) as string[]) : [];
  const packages = [...production, ...window].map((path) => readPackage(join(root, path)));
  const found = new Map(packages.flatMap((one) => (one ? [[`${one.name}@${one.version}`, one]] : [])));
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** The folder of the package that a module is in, from `root` on with slashes; undefined outside of packages. */
export function packageOf(module: string, root: string): string | undefined {
  const plain = module.replace(/^\0/, '').split('?')[0] ?? '';
  if (!plain.includes(`node_modules${sep}`)) return undefined;
  let folder = dirname(plain);
  while (!isPackage(folder)) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return folder.slice(root.length + 1).replaceAll(sep, '/');
}

/** Packages have manifests without a name in folders of theirs, to say what kind of modules these hold. */
function isPackage(folder: string): boolean {
  return manifestOf(folder)?.name !== undefined;
}

function manifestOf(folder: string): Manifest | undefined {
  const path = join(folder, 'package.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : undefined;
}

function readPackage(folder: string): Package | undefined {
  const manifest = manifestOf(folder);
  if (!manifest) return undefined;
  const { name = '', version = '', license = '' } = manifest;
  const files = readdirSync(folder)
    .filter((file) => TEXTS.test(file))
    .sort();
  return {
    ...{ name, version, license: typeof license === 'string' ? license : license.type },
    texts: files.map((file) => readFileSync(join(folder, file), 'utf8').trim()),
  };
}
