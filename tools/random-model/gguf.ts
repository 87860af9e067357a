/** Writes GGUF files with arbitrary headers and random f32 weights, for tests. */
import { closeSync, openSync, writeSync } from 'node:fs';

export type GgufValue =
  | string
  | boolean
  | { u32: number }
  | { f32: number }
  | { i32s: readonly number[] }
  | { texts: readonly string[] };

export interface GgufTensor {
  name: string;
  /** The first dimension is contiguous. */
  shape: readonly number[];
  /** Called when the tensor is written. */
  data: () => Float32Array;
}

/** GGUF's type number for f32 weights. */
const F32 = 0;
const TYPES = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, list: 9 };
const ALIGNMENT = 32;

export function writeGguf(
  path: string,
  header: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[] = [],
): string {
  const entries = Object.entries(header);
  const head = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, value] of entries) head.push(text(key), valueOf(value));
  let offset = 0;
  for (const { name, shape } of tensors) {
    head.push(text(name), u32(shape.length), ...shape.map(u64), u32(F32), u64(offset));
    offset += aligned(4 * shape.reduce((product, n) => product * n, 1));
  }
  const file = openSync(path, 'w');
  try {
    writePadded(file, Buffer.concat(head));
    for (const { data } of tensors) writePadded(file, data());
  } finally {
    closeSync(file);
  }
  return path;
}

function writePadded(file: number, bytes: NodeJS.ArrayBufferView): void {
  for (let at = 0; at < bytes.byteLength;) at += writeSync(file, bytes, at);
  writeSync(file, Buffer.alloc(aligned(bytes.byteLength) - bytes.byteLength));
}

function valueOf(value: GgufValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([u32(TYPES.text), text(value)]);
  if (typeof value === 'boolean') return Buffer.concat([u32(TYPES.bool), Buffer.of(Number(value))]);
  if ('u32' in value) return Buffer.concat([u32(TYPES.u32), u32(value.u32)]);
  if ('f32' in value) return Buffer.concat([u32(TYPES.f32), f32(value.f32)]);
  if ('i32s' in value) return list(TYPES.i32, value.i32s.map(i32));
  return list(TYPES.text, value.texts.map(text));
}

function list(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(TYPES.list), u32(type), u64(items.length), ...items]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

const u32 = (value: number): Buffer => scalar(4, (bytes) => bytes.writeUInt32LE(value));
const i32 = (value: number): Buffer => scalar(4, (bytes) => bytes.writeInt32LE(value));
const f32 = (value: number): Buffer => scalar(4, (bytes) => bytes.writeFloatLE(value));
const u64 = (value: number): Buffer => scalar(8, (bytes) => bytes.writeBigUInt64LE(BigInt(value)));

function scalar(size: number, write: (bytes: Buffer) => unknown): Buffer {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
