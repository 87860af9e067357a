import { readFileSync, writeFileSync } from 'node:fs';

export type MetadataValue = string | number | boolean | string[] | Int32Array | Float32Array;

/** Magic, version, number of tensors, number of keys. */
const HEADER_BYTES = 24;
const COUNT_OF_KEYS = 16;
/** Alignment of tensor data: the size of the metadata before it changes by multiples of this. */
const ALIGNMENT = 32;
const [U32, I32, F32, BOOL, STRING, ARRAY] = [4, 5, 6, 7, 8, 9];
const BYTES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/** A copy of a GGUF file with other metadata: removes keys that begin with `without` and adds `values`. */
export function withMetadata(
  path: string,
  copy: string,
  { without, values }: { without: string; values: Record<string, MetadataValue> },
): void {
  const file = readFileSync(path);
  const entries = entriesOf(file);
  const end = entries.at(-1)?.end ?? HEADER_BYTES;
  const kept = entries.filter(({ key }) => !key.startsWith(without));
  const added = Object.entries(values).map(([key, value]) => Buffer.concat([string(key), valueBytes(value)]));
  const all = [...kept.map((entry) => file.subarray(entry.start, entry.end)), ...added];
  const padding = string('test.padding').length + 4 + 8;
  const bytes = all.reduce((sum, { length }) => sum + length, padding) - (end - HEADER_BYTES);
  const blanks = ' '.repeat((ALIGNMENT - (((bytes % ALIGNMENT) + ALIGNMENT) % ALIGNMENT)) % ALIGNMENT);
  all.push(Buffer.concat([string('test.padding'), valueBytes(blanks)]));
  const header = Buffer.from(file.subarray(0, HEADER_BYTES));
  header.writeBigUInt64LE(BigInt(all.length), COUNT_OF_KEYS);
  writeFileSync(copy, Buffer.concat([header, ...all, file.subarray(end)]));
}

function entriesOf(file: Buffer): { key: string; start: number; end: number }[] {
  let at = HEADER_BYTES;
  const u64 = (): number => {
    at += 8;
    return Number(file.readBigUInt64LE(at - 8));
  };
  const u32 = (): number => {
    at += 4;
    return file.readUInt32LE(at - 4);
  };
  const skip = (type: number): void => {
    if (type === STRING) {
      const length = u64();
      at += length;
    } else if (type === ARRAY) {
      const of = u32();
      for (let left = u64(); left > 0; left--) skip(of);
    } else at += BYTES[type] ?? 0;
  };
  return Array.from({ length: Number(file.readBigUInt64LE(COUNT_OF_KEYS)) }, () => {
    const start = at;
    const length = u64();
    const key = file.toString('utf8', at, at + length);
    at += length;
    skip(u32());
    return { key, start, end: at };
  });
}

function valueBytes(value: MetadataValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([number(STRING, 4), string(value)]);
  if (typeof value === 'number') return Buffer.concat([number(U32, 4), number(value, 4)]);
  if (typeof value === 'boolean') return Buffer.concat([number(BOOL, 4), Buffer.of(value ? 1 : 0)]);
  const type = Array.isArray(value) ? STRING : value instanceof Int32Array ? I32 : F32;
  const items = Array.isArray(value)
    ? Buffer.concat(value.map(string))
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return Buffer.concat([number(ARRAY, 4), number(type, 4), number(value.length, 8), items]);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([number(bytes.length, 8), bytes]);
}

function number(value: number, bytes: 4 | 8): Buffer {
  const buffer = Buffer.alloc(bytes);
  if (bytes === 4) buffer.writeUInt32LE(value);
  else buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}
