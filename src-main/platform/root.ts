import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder that package.json, `out/` and `resources/` are in: the repository, or the packaged app's archive. Found
 * upwards from this module, since bundling moves it.
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
 * The same, for what native code opens by itself (the engine, models): it cannot look into Electron's archive, beside
 * which the packager lays such files out.
 */
export function nativeRoot(root: string = appRoot()): string {
  return root
    .split(sep)
    .map((part) => (part === 'app.asar' ? 'app.asar.unpacked' : part))
    .join(sep);
}

/** Of the program, from its package.json. */
export function programVersion(root: string = appRoot()): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}
