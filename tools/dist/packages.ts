import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** A package that is part of the installed application. */
export interface Package {
  name: string;
  version: string;
  license: string;
  /** The texts of its licence files, and the notices that it requires to be kept. */
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

/** Parts of the program with separate bundles. */
const BUNDLES = ['main', 'preload', 'renderer', 'worker'] as const;
type Bundle = (typeof BUNDLES)[number];

const TEXTS = /^(licen[cs]e|copying|notice)/i;
/** Packages that are not packed: Node for running from source, headers, and the PDF page renderer. */
const LEFT_OUT = /^node_modules\/(node-(bin-)?(linux|win|darwin)-|node-addon-api|@napi-rs\/)/;

/**
 * Lists the packed packages by name: the production packages from the lock file that are installed on this system (libraries for other
 * systems are not), and the bundled packages that the build has listed.
 */
export function packedPackages(root: string): Package[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const production = Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path]) => path)
    .filter((path) => !LEFT_OUT.test(path));
  const packages = [...production, ...bundledPackages(root)].map((path) => readPackage(join(root, path)));
  const found = new Map(packages.flatMap((one) => (one ? [[`${one.name}@${one.version}`, one]] : [])));
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/**
 * Folders of the packages in `out/`. Electron's bundle contains packages beyond the production ones, and the window bundles all of its
 * packages.
 */
export function bundledPackages(root: string): string[] {
  const lists = BUNDLES.map((bundle) => packageList(root, bundle)).filter((path) => existsSync(path));
  return [...new Set(lists.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')) as string[]))];
}

/** The file in which the build lists the packages of a bundle. */
export function packageList(root: string, bundle: Bundle): string {
  return join(root, 'out', `${bundle}-packages.json`);
}

/** The folder of the package that contains a module, relative to `root`, with slashes; undefined for modules outside packages. */
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

/** False for nested manifests without a name, which only declare a folder's module type. */
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
