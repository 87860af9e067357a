import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { TimeSlice } from '../platform/time-slice.ts';
import { piecesOf, type ValueSource } from './driver.ts';
import { DAMAGED, SharingError } from './failures.ts';

/** docs/formats/shared-value.md */
const MAGIC = Buffer.from('KVASIRSV');
const VERSION = 1;
export const HEADER_BYTES = 72;
export const FRAME_BYTES = 256 * 1024;
const TAG_BYTES = 16;
const CHECK_BYTES = 16;
const SEED_BYTES = 32;

const derive = promisify<string, string, number, object, Buffer>(scrypt);

/**
 * The team's key: 32 bytes as Base64, or derived from a passphrase, which deliberately takes about a tenth of a second.
 */
export async function teamKey(text: string, salt: string): Promise<Buffer> {
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return Buffer.from(text, 'base64');
  return derive(text.normalize('NFC'), `kvasir/shared/1\n${salt}`, 32, {
    N: 2 ** 15,
    r: 8,
    p: 3,
    maxmem: 2 ** 26,
  });
}

/** Size of an encrypted value, from its plain size. */
export function sealedBytes(bytes: number): number {
  return HEADER_BYTES + bytes + Math.ceil(bytes / FRAME_BYTES) * TAG_BYTES;
}

/** The inverse; undefined if no value has that size. */
export function plainBytes(sealed: number): number | undefined {
  const body = sealed - HEADER_BYTES;
  const bytes = body - Math.ceil(body / (FRAME_BYTES + TAG_BYTES)) * TAG_BYTES;
  return bytes > 0 && sealedBytes(bytes) === sealed ? bytes : undefined;
}

/** Encrypts a file while it is sent. Every pass uses a new key. */
export function encryptedValue(file: FileHandle, bytes: number, name: string, key: Buffer): ValueSource {
  return {
    bytes: sealedBytes(bytes),
    async *pieces() {
      const seed = randomBytes(SEED_BYTES);
      yield header(bytes, seed, key);
      const frames = new Frames(name, bytes, seed, key);
      let index = 0;
      for await (const frame of piecesOf(file, bytes, FRAME_BYTES)) yield frames.seal(index++, frame);
    },
  };
}

function header(bytes: number, seed: Buffer, key: Buffer): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(VERSION, 8);
  head.writeUInt32LE(FRAME_BYTES, 12);
  head.writeBigUInt64LE(BigInt(bytes), 16);
  keyCheck(key).copy(head, 24);
  seed.copy(head, 24 + CHECK_BYTES);
  return head;
}

/** Distinguishes the team's keys without revealing anything about them. */
export function keyCheck(key: Buffer): Buffer {
  return createHmac('sha256', key).update('kvasir/shared/1 check').digest().subarray(0, CHECK_BYTES);
}

/** Decrypts the frames of a value, given its header. SharingError if it belongs to another key. */
export function framesOf(head: Uint8Array, name: string, bytes: number, key: Buffer): Frames {
  const given = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const ours = header(bytes, given.subarray(24 + CHECK_BYTES), key);
  if (!given.equals(ours)) throw new SharingError('damaged', DAMAGED);
  return new Frames(name, bytes, given.subarray(24 + CHECK_BYTES), key);
}

/** The range [from, to) of whole frames in an encrypted value that contain the plain bytes [from, from + bytes). */
export function sealedRange(from: number, bytes: number, total: number): { from: number; bytes: number } {
  const first = Math.floor(from / FRAME_BYTES);
  const end = Math.ceil((from + bytes) / FRAME_BYTES);
  const at = (frame: number): number => HEADER_BYTES + frame * (FRAME_BYTES + TAG_BYTES);
  return { from: at(first), bytes: Math.min(at(end), sealedBytes(total)) - at(first) };
}

/**
 * The frames of one value, encrypted with a separate key; each is bound to its name, its position and the value's size.
 */
class Frames {
  readonly #key: Buffer;
  readonly #name: string;
  readonly #bytes: number;

  constructor(name: string, bytes: number, seed: Buffer, key: Buffer) {
    this.#name = name;
    this.#bytes = bytes;
    this.#key = Buffer.from(hkdfSync('sha256', key, seed, 'kvasir/shared/1 value', 32));
  }

  seal(index: number, plain: Buffer): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce(index));
    cipher.setAAD(this.#bound(index));
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /**
   * The plain bytes [from, from + bytes) from the whole frames that contain them. SharingError if a frame was changed.
   */
  async open(sealed: Uint8Array, from: number, bytes: number): Promise<Uint8Array> {
    const first = Math.floor(from / FRAME_BYTES);
    const plain: Buffer[] = [];
    const slice = new TimeSlice();
    for (let at = 0, index = first; at < sealed.length; at += FRAME_BYTES + TAG_BYTES, index++) {
      plain.push(this.#frame(index, sealed.subarray(at, at + FRAME_BYTES + TAG_BYTES)));
      await slice.step();
    }
    const start = from - first * FRAME_BYTES;
    return Buffer.concat(plain).subarray(start, start + bytes);
  }

  #frame(index: number, sealed: Uint8Array): Buffer {
    const end = sealed.length - TAG_BYTES;
    if (end <= 0) throw new SharingError('damaged', DAMAGED);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce(index));
    decipher.setAAD(this.#bound(index));
    decipher.setAuthTag(sealed.subarray(end));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]);
    } catch (error) {
      throw new SharingError('damaged', DAMAGED, { cause: error });
    }
  }

  #bound(index: number): Buffer {
    const bound = Buffer.alloc(48);
    bound.write(this.#name, 'hex');
    bound.writeBigUInt64LE(BigInt(index), 32);
    bound.writeBigUInt64LE(BigInt(this.#bytes), 40);
    return bound;
  }
}

export type { Frames };

function nonce(index: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(BigInt(index));
  return bytes;
}
