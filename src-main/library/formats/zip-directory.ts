import iconv from 'iconv-lite';
import { broken, encrypted, tooLarge } from './errors.ts';

/** The directory of a zip archive (PKWARE APPNOTE.TXT 6.3.10, sections 4.3 to 4.5). */

const MAX_ENTRIES = 20_000;
/** Places examined that look like the end of an archive. */
const MAX_ENDS = 100;

const END = Buffer.from('PK\x05\x06');
const END_BYTES = 22;
const LOCATOR = 0x07064b50;
const LOCATOR_BYTES = 20;
const END_64 = 0x06064b50;
const END_64_BYTES = 56;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const UNKNOWN_32 = 0xffffffff;

export interface ZipEntry {
  /** With forward slashes, without one before it. */
  name: string;
  method: number;
  encrypted: boolean;
  packedBytes: number;
  /** Of its local header in the archive. */
  offset: number;
}

export interface ZipDirectory {
  /** In the directory's order. */
  entries: readonly ZipEntry[];
  /** An entry's packed bytes, for deflated ones with others behind; undefined when they are not in the archive. */
  dataOf: (entry: ZipEntry) => Buffer | undefined;
}

/** Where a directory is; `offset` is as the archive tells it. */
interface End {
  start: number;
  offset: number;
  count: number;
  /** End of the archive with its comment. */
  end: number;
}

/**
 * Reads the directory of an archive that may have bytes before it (self-extracting archives, headers of mails) and behind it (line ends,
 * padding). DOCUMENT_UNREADABLE, DOCUMENT_ENCRYPTED, DOCUMENT_TOO_LARGE.
 */
export function readDirectory(bytes: Buffer, name: string): ZipDirectory {
  const found = findEnd(bytes);
  if (!found) throw noArchive(bytes, name);
  if (found.count > MAX_ENTRIES) throw tooLarge(name, `its archive has more than ${MAX_ENTRIES} entries`);
  // Most archives count offsets from their own beginning; some from the file's, where start is offset.
  const before = Math.max(0, found.start - found.offset);
  const archive = bytes.subarray(before, found.end);
  const entries: ZipEntry[] = [];
  for (
    let at = found.start - before;
    archive.length >= at + ENTRY_BYTES && archive.readUInt32LE(at) === ENTRY;
  ) {
    if (entries.length >= MAX_ENTRIES)
      throw tooLarge(name, `its archive has more than ${MAX_ENTRIES} entries`);
    const { entry, next, strong } = readEntry(archive, at);
    if (strong) throw encrypted(name);
    entries.push(entry);
    at = next;
  }
  if (entries.length < found.count) throw broken(name, 'the list of files in its archive is damaged');
  return { entries, dataOf: (entry) => dataOf(archive, entry, found.start - before) };
}

/** The last end record behind a directory. */
function findEnd(bytes: Buffer): End | undefined {
  let at = bytes.length;
  for (let tries = 0; tries < MAX_ENDS; tries++) {
    at = at === 0 ? -1 : bytes.lastIndexOf(END, at - 1);
    if (at < 0) return undefined;
    const end = at + END_BYTES <= bytes.length ? endAt(bytes, at) : undefined;
    if (end) return end;
  }
  return undefined;
}

function endAt(bytes: Buffer, at: number): End | undefined {
  const end = Math.min(bytes.length, at + END_BYTES + bytes.readUInt16LE(at + 20));
  const count = bytes.readUInt16LE(at + 10);
  const [size, offset] = [bytes.readUInt32LE(at + 12), bytes.readUInt32LE(at + 16)];
  const wide = endAt64(bytes, at);
  if (wide) return { ...wide, end };
  const start = startOf(bytes, at, size, offset, count);
  return start === undefined ? undefined : { start, offset, count, end };
}

/** The record of archives whose numbers exceed 16 or 32 bits; its locator stands before the end record (4.3.14, 4.3.15). */
function endAt64(bytes: Buffer, endRecord: number): Omit<End, 'end'> | undefined {
  const locator = endRecord - LOCATOR_BYTES;
  if (locator < END_64_BYTES || bytes.readUInt32LE(locator) !== LOCATOR) return undefined;
  const told = readUInt64(bytes, locator + 8);
  const at = [locator - END_64_BYTES, told].find(
    (place) => place + END_64_BYTES <= locator && bytes.readUInt32LE(place) === END_64,
  );
  if (at === undefined) return undefined;
  const [count, size, offset] = [32, 40, 48].map((field) => readUInt64(bytes, at + field)) as [
    number,
    number,
    number,
  ];
  const start = startOf(bytes, at, size, offset, count);
  return start === undefined ? undefined : { start, offset, count };
}

/** A directory stands directly before its end record, or else where the record says. */
function startOf(
  bytes: Buffer,
  end: number,
  size: number,
  offset: number,
  count: number,
): number | undefined {
  return [end - size, offset].find((start) =>
    count === 0
      ? start === end
      : start >= 0 && start + ENTRY_BYTES <= end && bytes.readUInt32LE(start) === ENTRY,
  );
}

function readEntry(archive: Buffer, at: number): { entry: ZipEntry; next: number; strong: boolean } {
  const flags = archive.readUInt16LE(at + 8);
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) =>
    archive.readUInt16LE(at + field),
  ) as [number, number, number];
  const extra = at + ENTRY_BYTES + nameBytes;
  const rawName = archive.subarray(at + ENTRY_BYTES, extra);
  const fields = extraFields(archive.subarray(extra, extra + extraBytes));
  const sizes = [archive.readUInt32LE(at + 24), archive.readUInt32LE(at + 20), archive.readUInt32LE(at + 42)];
  const [, packedBytes = 0, offset = 0] = wideSizes(sizes, fields.get(0x0001));
  const entry = {
    name: nameOf(rawName, (flags & 0x800) !== 0, fields.get(0x7075)),
    method: archive.readUInt16LE(at + 10),
    encrypted: (flags & 1) !== 0,
    packedBytes,
    offset,
  };
  return { entry, next: extra + extraBytes + commentBytes, strong: (flags & 0x40) !== 0 };
}

/** Extra fields by id (4.5.1); what is cut off or is no field is left out. */
function extraFields(bytes: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  for (let at = 0; at + 4 <= bytes.length;) {
    const end = at + 4 + bytes.readUInt16LE(at + 2);
    if (end > bytes.length) break;
    fields.set(bytes.readUInt16LE(at), bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** The unpacked size, packed size and offset: those that 32 bits cannot hold are in an extra field, in this order (4.5.3). */
function wideSizes(sizes: readonly number[], field: Buffer | undefined): number[] {
  let at = 0;
  return sizes.map((size) => {
    if (size !== UNKNOWN_32 || field === undefined || at + 8 > field.length) return size;
    at += 8;
    return readUInt64(field, at - 8);
  });
}

/** In UTF-8 if so marked, or by an extra field (4.6.9), or if it is valid; else in the encoding of DOS. */
function nameOf(raw: Buffer, utf8: boolean, unicodePath: Buffer | undefined): string {
  const bytes = !utf8 && unicodePath !== undefined && unicodePath.length > 5 ? unicodePath.subarray(5) : raw;
  const asUtf8 = bytes.toString('utf8');
  const name = utf8 || !asUtf8.includes('\ufffd') ? asUtf8 : iconv.decode(bytes, 'cp437');
  return name.replaceAll('\\', '/').replace(/^(?:\.?\/)+/, '');
}

/**
 * The end of deflated data is in the data itself, so that a wrong size does no harm; stored data has the size of the directory or, where
 * that has none, of the local header.
 */
function dataOf(
  archive: Buffer,
  { offset, method, packedBytes }: ZipEntry,
  directory: number,
): Buffer | undefined {
  if (offset + LOCAL_BYTES > directory || archive.readUInt32LE(offset) !== LOCAL) return undefined;
  const start = offset + LOCAL_BYTES + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  const size = method === 0 ? packedBytes || archive.readUInt32LE(offset + 18) : directory - start;
  return start + size <= directory ? archive.subarray(start, start + size) : undefined;
}

function readUInt64(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

function noArchive(bytes: Buffer, name: string): Error {
  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04') {
    return broken(name, 'the end of the file is missing: it was not downloaded or copied completely');
  }
  return broken(name, `its contents are not those of a .${name.split('.').at(-1) ?? ''} file`);
}
