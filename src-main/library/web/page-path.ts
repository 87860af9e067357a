import { createHash } from 'node:crypto';
import { domainToUnicode } from 'node:url';
import { decodedUri } from '../../platform/decoded-uri.ts';
import { formatOf, isDocument } from '../formats/formats.ts';
import { isSkipped } from '../sources/scan.ts';
import { safeRelativePath } from '../sources/uploads.ts';

/** Code points of a name; at most 4 bytes each, of the 255 that file systems allow. */
const MAX_NAME = 50;

/** A page's address as it is stored: without the fragment, which names a place in it. */
export function addressOf(url: string): string {
  const address = new URL(url);
  address.hash = '';
  return address.href;
}

/**
 * The path of a page's file, relative to the folder of uploads: its host's name and its own. Small letters, since some disks take large ones
 * for the same. With a number if another page has that path (`isFree`).
 */
export function pagePath(address: string, format: string, isFree: (path: string) => boolean): string {
  const { hostname, pathname, search } = new URL(address);
  const last =
    decodedUri(pathname)
      .split('/')
      .findLast((part) => part !== '') ?? '';
  const name = cleaned(isDocument(last) ? last.slice(0, -formatOf(last).length - 1) : last) || 'index';
  const path = `${cleaned(domainToUnicode(hostname) || hostname)}/${name}.${format}`;
  const hash = createHash('sha256').update(address).digest('hex').slice(0, 8);
  if (search === '' && isSafe(path) && isFree(path)) return path;
  const numbered = path.replace(/\.[^./]*$/, `-${hash}$&`);
  return isSafe(numbered) ? numbered : `page-${hash}.${format}`;
}

function cleaned(name: string): string {
  const short = Array.from(
    name
      .normalize('NFC')
      .toLowerCase()
      .replace(/[\p{C}\p{Z}<>:"|?*\\/]+/gu, '-'),
  );
  return short
    .slice(0, MAX_NAME)
    .join('')
    .replace(/^[-.~$]+|[-. ~]+$/g, '');
}

function isSafe(path: string): boolean {
  try {
    return safeRelativePath(path) === path && !path.split('/').some(isSkipped);
  } catch {
    return false;
  }
}
