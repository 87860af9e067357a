import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the paths of all files below a folder whose names match; empty if the folder does not exist. */
export function filesUnder(folder: string, name: RegExp): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && name.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
