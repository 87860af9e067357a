import { chmodSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Permission bits of group and others. */
const STRANGERS = 0o077;

/** Names that Kvasir creates in its data folder; everything else belongs to somebody else. */
const OURS =
  /^(libraries|backups|models|cache|restore-.+|replaced-.+|.+\.sqlite.*|kvasir\.log.*|host\.sock|(host|settings|costs|calibrations|window|hub-token|sharing-secrets|server-keys|mcp|mcp-permissions|mcp-sign-ins)\.json.*)$/;

/**
 * Makes a data folder private: files that this process creates from now on are readable by its user only, and files
 * that an earlier version left open are restricted. The folder itself comes last, so that an interrupted attempt is
 * repeated. On Windows a user's folders are already private.
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

/** Does not follow links, whose targets are not ours; leaves files of other users unchanged. */
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
