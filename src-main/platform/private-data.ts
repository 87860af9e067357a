import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Of the group and of others. */
const STRANGERS = 0o077;

/** What Kvasir makes in its data folder; whatever else lies there is somebody's own. */
const OURS =
  /^(libraries|backups|models|cache|restore-.+|replaced-.+|.+\.sqlite.*|kvasir\.log.*|host\.sock|(host|settings|costs|calibrations|window|hub-token|sharing-secrets|server-keys)\.json.*)$/;

/**
 * Sees to it that nobody else on this machine reads a data folder: what this process makes from now on is its user's own, and so becomes
 * what an earlier version left open. The folder itself is closed last: an attempt that was cut short is taken again. On Windows
 * a user's folders are private by themselves.
 */
export function makePrivate(data: string): void {
  if (process.platform === 'win32') return;
  process.umask(STRANGERS);
  if ((statSync(data).mode & STRANGERS) === 0) return;
  const entries = readdirSync(data).filter((name) => OURS.test(name));
  for (const name of entries) close(join(data, name));
  if (entries.length === readdirSync(data).length) tighten(data);
}

function close(path: string): void {
  if (tighten(path) === 'folder') for (const name of readdirSync(path)) close(join(path, name));
}

/** Not through links, which lead to what is not ours; a file that another user owns stays as it is. */
function tighten(path: string): 'folder' | 'other' {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || (!found.isDirectory() && !found.isFile())) return 'other';
  try {
    chmodSync(path, found.mode & ~STRANGERS & 0o7777);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
  return found.isDirectory() ? 'folder' : 'other';
}
