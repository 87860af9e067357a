import { randomBytes } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../testing/store.ts';
import {
  FRAME_BYTES,
  framesOf,
  HEADER_BYTES,
  plainBytes,
  encryptedValue,
  sealedBytes,
  sealedRange,
  teamKey,
} from './encryption.ts';

const KEY = randomBytes(32);
const NAME = randomBytes(32).toString('hex');

async function seal(plain: Buffer, name = NAME): Promise<Buffer> {
  const path = join(tempDir(), 'chunk');
  await writeFile(path, plain);
  const file = await open(path, 'r');
  onTestFinished(() => file.close());
  const pieces: Buffer[] = [];
  for await (const piece of encryptedValue(file, plain.length, name, KEY).pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function read(
  value: Buffer,
  from: number,
  bytes: number,
  { name = NAME, key = KEY } = {},
): Promise<Buffer> {
  const total = plainBytes(value.length) ?? 0;
  const frames = framesOf(value.subarray(0, HEADER_BYTES), name, total, key);
  const range = sealedRange(from, bytes, total);
  return Buffer.from(await frames.open(value.subarray(range.from, range.from + range.bytes), from, bytes));
}

test.each([1, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES + 17])(
  'of %d bytes every range comes back',
  async (bytes) => {
    const plain = randomBytes(bytes);
    const value = await seal(plain);
    expect(value.length).toBe(sealedBytes(bytes));
    expect(plainBytes(value.length)).toBe(bytes);
    const ends = [0, 1, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, bytes].filter((at) => at <= bytes);
    for (const from of ends)
      for (const to of ends.filter((at) => at > from))
        expect((await read(value, from, to - from)).equals(plain.subarray(from, to))).toBe(true);
  },
);

test('nothing of the text shows, and equal files give different values', async () => {
  const plain = Buffer.alloc(1000, 'handbook');
  const [one, other] = [await seal(plain), await seal(plain)];
  expect(one.includes('handbook')).toBe(false);
  expect(one.subarray(HEADER_BYTES).equals(other.subarray(HEADER_BYTES))).toBe(false);
});

test('another key, another name and every changed byte are noticed', async () => {
  const plain = randomBytes(2 * FRAME_BYTES + 100);
  const value = await seal(plain);
  await expect(read(value, 0, 10, { key: randomBytes(32) })).rejects.toMatchObject({
    reason: 'damaged',
  });
  await expect(read(value, 0, 10, { name: randomBytes(32).toString('hex') })).rejects.toMatchObject({
    reason: 'damaged',
  });
  for (const at of [0, 9, 13, 17, 45, HEADER_BYTES, HEADER_BYTES + FRAME_BYTES + 3]) {
    const changed = Buffer.from(value);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    await expect(read(changed, 0, FRAME_BYTES + 1)).rejects.toMatchObject({ reason: 'damaged' });
  }
});

test('frames cannot change places, nor can a value be cut at a frame', async () => {
  const plain = randomBytes(3 * FRAME_BYTES);
  const value = await seal(plain);
  const frame = (value.length - HEADER_BYTES) / 3;
  const at = (i: number): Buffer => value.subarray(HEADER_BYTES + i * frame, HEADER_BYTES + (i + 1) * frame);
  const head = value.subarray(0, HEADER_BYTES);
  const swapped = Buffer.concat([head, at(1), at(0), at(2)]);
  await expect(read(swapped, 0, 10)).rejects.toMatchObject({ reason: 'damaged' });
  const cut = value.subarray(0, value.length - frame);
  await expect(read(cut, 0, 10)).rejects.toMatchObject({ reason: 'damaged' });
  const shorter = Buffer.from(cut);
  shorter.writeBigUInt64LE(BigInt(2 * FRAME_BYTES), 16);
  await expect(read(shorter, 0, 10)).rejects.toMatchObject({ reason: 'damaged' });
});

test('a key of 32 bytes is taken as it is; a passphrase gives one that depends on the salt', async () => {
  expect((await teamKey(KEY.toString('base64'), 'a')).equals(KEY)).toBe(true);
  const one = await teamKey('correct horse', 'a');
  expect(one).toHaveLength(32);
  expect((await teamKey('correct horse', 'a')).equals(one)).toBe(true);
  expect((await teamKey('correct horse', 'b')).equals(one)).toBe(false);
});
