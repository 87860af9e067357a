import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of package.json, `out/` and `resources/`: the repository, or the packaged app's archive. Searched upwards
 * from this module, because bundling moves it.
 */
export function appRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  let folder = from;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`there is no package.json above ${from}`);
    folder = parent;
  }
  return folder;
}

/**
 * The same, for files that native code opens directly (the engine, models): it cannot read Electron's archive, so the
 * packager places such files next to it.
 */
export function nativeRoot(root: string = appRoot()): string {
  return root
    .split(sep)
    .map((part) => (part === 'app.asar' ? 'app.asar.unpacked' : part))
    .join(sep);
}

/** The program's version, from its package.json. */
export function programVersion(root: string = appRoot()): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}
