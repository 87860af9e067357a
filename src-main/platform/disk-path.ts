import { existsSync, readdirSync } from 'node:fs';

const SLASH = Buffer.from('/');

/**
 * An absolute path as the disk has it. A name that is not UTF-8, as old archives and drives have them, is a string with “\ufffd” in
 * JavaScript, which opens nothing: its bytes are found by listing its folder. The same path where nothing is found.
 */
export function diskPath(path: string): string | Buffer {
  if (!path.includes('\ufffd') || process.platform === 'win32' || existsSync(path)) return path;
  try {
    let found = SLASH;
    for (const part of path.split('/').filter((each) => each !== '')) {
      const names = part.includes('\ufffd') ? readdirSync(found, { encoding: 'buffer' }) : [];
      const name = names.find((each) => each.toString() === part) ?? Buffer.from(part);
      found = Buffer.concat(found === SLASH ? [SLASH, name] : [found, SLASH, name]);
    }
    return found;
  } catch {
    return path;
  }
}
