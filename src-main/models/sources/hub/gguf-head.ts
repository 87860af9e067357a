import { KvasirError } from '../../../../src-shared/errors.ts';

/** A longer header is treated as corrupt. */
export const MAX_HEAD_BYTES = 128 * 1024 * 1024;

const STRING = 8;
const ARRAY = 9;
/** Bytes of a value, by its type number; 0: variable length. */
const VALUE_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const MAX_DEPTH = 4;

/**
 * Length in bytes of a GGUF header: metadata and tensor list, up to where the data may begin. undefined: the header is
 * longer than the given bytes. Only finds the end; the engine judges the contents. MODEL_INVALID if it is not a header.
 */
export function headBytes(bytes: Buffer): number | undefined {
  const reader = new Reader(bytes);
  try {
    if (reader.take(4).toString('latin1') !== 'GGUF') throw invalid('it does not begin as one');
    const version = reader.u32();
    if (version !== 2 && version !== 3) throw invalid(`it is of version ${version}`);
    const tensors = reader.count();
    const pairs = reader.count();
    for (let i = 0; i < pairs; i++) {
      reader.string();
      reader.value(reader.u32(), 0);
    }
    for (let i = 0; i < tensors; i++) {
      reader.string();
      reader.skip(8 * reader.u32() + 4 + 8); // its shape, type and offset
    }
    return reader.at;
  } catch (error) {
    if (error instanceof GoesOn) return undefined;
    throw error;
  }
}

class GoesOn extends Error {}

class Reader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(count: number): Buffer {
    const from = this.at;
    this.skip(count);
    return this.#bytes.subarray(from, this.at);
  }

  skip(count: number): void {
    if (this.at + count > MAX_HEAD_BYTES) throw invalid('its header has no end');
    if (this.at + count > this.#bytes.length) throw new GoesOn();
    this.at += count;
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  count(): number {
    return Number(this.take(8).readBigUInt64LE());
  }

  string(): void {
    this.skip(this.count());
  }

  value(type: number, depth: number): void {
    const size = VALUE_BYTES[type];
    if (size === undefined || depth > MAX_DEPTH) throw invalid('its metadata cannot be read');
    if (type === STRING) this.string();
    else if (type === ARRAY) this.#array(depth);
    else this.skip(size);
  }

  #array(depth: number): void {
    const type = this.u32();
    const count = this.count();
    const size = VALUE_BYTES[type] ?? 0;
    if (size > 0) this.skip(size * count);
    else for (let i = 0; i < count; i++) this.value(type, depth + 1);
  }
}

function invalid(why: string): KvasirError {
  return new KvasirError('MODEL_INVALID', `The file on the hub is not a usable GGUF model: ${why}.`);
}
