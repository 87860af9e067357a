import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { APPLYING_FOLDER, READY_FOLDER, UNPACKING_FOLDER } from './backup/apply-restore.ts';
import { MANIFEST_NAME } from './backup/manifest.ts';
import type { Logger } from './platform/logger.ts';

interface Leftover {
  /** Folder below the data folder; `*` stands for each folder in `libraries`. */
  in: string;
  name: RegExp;
  /** Whether a file is a leftover; default: always. */
  when?: (path: string) => boolean;
}

const WITHOUT_MANIFEST = (path: string): boolean => !existsSync(join(path, MANIFEST_NAME));

/** Folders of data replaced by a restore, with the time. */
const REPLACED = /^replaced-(\d{4})(\d\d)(\d\d)T\d{9}Z(-\d+)?$/;
const KEPT_MS = 30 * 86_400_000;

/** Copies of databases before a migration: for as long as its faults are looked for; they hold what is deleted meanwhile too. */
const BEFORE_MIGRATION = /\.(sqlite|db)\.v\d+(-backup-.*)?$/;

function isOldFile(path: string): boolean {
  return Date.now() - statSync(path).mtimeMs > KEPT_MS;
}

/** There is no backup of it: it is kept for a month, and the latest one until the next restore. */
function isOldReplaced(path: string): boolean {
  const all = entriesOf(dirname(path)).filter((name) => REPLACED.test(name));
  const [, ...date] = REPLACED.exec(basename(path)) ?? [];
  return (
    basename(path) !== all.sort().at(-1) && Date.now() - Date.parse(date.slice(0, 3).join('-')) > KEPT_MS
  );
}

/**
 * Files that a killed process can leave: all files written to a temporary name and then renamed; and expired ones. Add
 * every new kind of temporary file here. The chunk store has a folder for them (`cache/tmp`) and empties it itself.
 */
function leftovers(isDownload: (file: string) => boolean): Leftover[] {
  return [
    { in: '.', name: new RegExp(`^${UNPACKING_FOLDER}$`) },
    { in: '.', name: new RegExp(`^(${READY_FOLDER}|${APPLYING_FOLDER})$`), when: WITHOUT_MANIFEST },
    {
      in: '.',
      name: /^(settings|calibrations|costs|devices|window|hub-token|sharing-secrets|server-keys|mcp|mcp-permissions|mcp-sign-ins)\.json(\.\d+)?\.tmp$/,
    },
    { in: '.', name: REPLACED, when: isOldReplaced },
    { in: '.', name: BEFORE_MIGRATION, when: isOldFile },
    { in: 'cache', name: BEFORE_MIGRATION, when: isOldFile },
    { in: '.', name: /^(profile|room)-\d+\.tmp$/ },
    { in: 'cache', name: /^(room-\d+\.tmp|lock-probe-\d+\.db)$/ },
    { in: 'backups', name: /\.zip\.(part|databases)$/ },
    { in: 'backups', name: /^[0-9a-f-]{36}\.upload$/ },
    { in: 'models', name: /^[0-9a-f-]{36}\.upload$/ },
    { in: 'models', name: /\.part$/, when: (path) => !isDownload(path) },
    { in: 'packs/*', name: /\.(part|new)$/ },
    { in: 'libraries/*/.incoming', name: /^[0-9a-f-]{36}$/ },
  ];
}

/**
 * Removes leftovers. REQUIRES: this process holds the data folder's lock and has not started work, so that all
 * leftovers belong to dead processes. `isDownload` tells which partial files in the models folder can be resumed.
 */
export function removeLeftovers(data: string, isDownload: (path: string) => boolean, log: Logger): void {
  for (const { in: folder, name, when = () => true } of leftovers(isDownload))
    for (const dir of foldersOf(data, folder))
      for (const entry of entriesOf(dir)) {
        const path = join(dir, entry);
        if (!name.test(entry) || !when(path)) continue;
        try {
          rmSync(path, { recursive: true, force: true });
          log.info('leftover-removed', { path });
        } catch (error) {
          log.warn('leftover-not-removed', { path, error: String(error) });
        }
      }
}

function foldersOf(data: string, folder: string): string[] {
  const [above, below] = folder.split('/*');
  if (below === undefined) return [join(data, folder)];
  const dir = join(data, above ?? '');
  return entriesOf(dir).map((name) => join(dir, name, below));
}

function entriesOf(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // there is none
  }
}
