/** Reads compound files, the archives of Office documents from before 2007 ([MS-CFB]). */

export const COMPOUND_MAGIC = 'd0cf11e0a1b11ae1';

const END = 0xfffffffa;
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

/**
 * Streams of the file by name in lower case ([MS-CFB] 2.6.4); of two with one name, the one that is in no storage: documents embedded in
 * this one have streams of the same names. Undefined if its directory is damaged.
 */
export function compoundStreams(bytes: Buffer): Map<string, () => Buffer> | undefined {
  try {
    return readStreams(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readStreams(bytes: Buffer): Map<string, () => Buffer> {
  const sectorBytes = 2 ** Math.min(bytes.readUInt16LE(30), 12);
  const sector = (index: number): Buffer =>
    bytes.subarray((index + 1) * sectorBytes, (index + 2) * sectorBytes);
  const table = readTable(bytes, sector, sectorBytes);
  const directory = chain(bytes.readUInt32LE(48), table, sector);
  const miniTable = words(chain(bytes.readUInt32LE(60), table, sector));
  const limit = bytes.readUInt32LE(56);
  const root = chain(directory.readUInt32LE(116), table, sector);
  const miniSector = (index: number): Buffer => root.subarray(index * 64, (index + 1) * 64);
  const streams = new Map<string, () => Buffer>();
  const entries = Array.from({ length: directory.length >> 7 }, (_, i) => i);
  for (const entry of [...outermost(directory), ...entries]) {
    const at = entry * 128;
    const nameBytes = Math.min(directory.readUInt16LE(at + 64), 64);
    const name = directory.toString('utf16le', at, at + Math.max(nameBytes - 2, 0)).toLowerCase();
    const size = directory.readUInt32LE(at + 120);
    const start = directory.readUInt32LE(at + 116);
    if (directory[at + 66] !== 2 || streams.has(name)) continue;
    streams.set(name, () =>
      (size < limit ? chain(start, miniTable, miniSector) : chain(start, table, sector)).subarray(0, size),
    );
  }
  return streams;
}

/** Numbers of the entries that are in no storage: the root's child, and the tree of its siblings. */
function outermost(directory: Buffer): Set<number> {
  const found = new Set<number>();
  const open = [directory.readUInt32LE(76)];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const at = entry * 128;
    if (at + 128 > directory.length || found.has(entry)) continue;
    found.add(entry);
    open.push(directory.readUInt32LE(at + 68), directory.readUInt32LE(at + 72));
  }
  return found;
}

/** The table that says which sector follows which: its own places are in the header, and in a chain behind it. */
function readTable(bytes: Buffer, sector: (index: number) => Buffer, sectorBytes: number): number[] {
  const places = words(bytes.subarray(76, 512));
  let next = bytes.readUInt32LE(68);
  for (let i = 0; next < END && i < bytes.length / sectorBytes; i += 1) {
    const more = words(sector(next));
    next = more.pop() ?? END;
    places.push(...more);
  }
  return places.filter((place) => place < END).flatMap((place) => words(sector(place)));
}

function chain(start: number, table: readonly number[], sector: (index: number) => Buffer): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  for (
    let at = start;
    at < END && parts.length <= table.length && size < MAX_STREAM_BYTES;
    at = table[at] ?? END
  ) {
    const part = sector(at);
    if (part.length === 0) break;
    parts.push(part);
    size += part.length;
  }
  return Buffer.concat(parts);
}

function words(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readUInt32LE(i * 4));
}
