import { createCipheriv, createHash } from 'node:crypto';
import { at } from './pdf-file.ts';

/** Handlers of ISO 32000-2, 7.6: RC4 of 40 and of 128 bits, AES of 128 bits, and of 256 bits by Adobe's extension and by the standard. */
export type PdfEncryption = 'RC4-40' | 'RC4-128' | 'AES-128' | 'AES-256-R5' | 'AES-256-R6';

const PAD = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');
const ID = Buffer.alloc(16, 7);
const OWNER = Buffer.alloc(32, 9);
const PERMISSIONS = -4;

/** A PDF of one page that opens with an empty password. */
export function encryptedPdf(encryption: PdfEncryption, text: string): Buffer {
  const { entries, encrypt } = ENCRYPTIONS[encryption]();
  const content = encrypt(Buffer.from(at(72, 700, text)), 4).toString('latin1');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Filter /Standard /P ${PERMISSIONS} ${entries} >>`,
  ];
  const body = objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join('');
  const id = hex(ID);
  const trailer = `trailer\n<< /Root 1 0 R /Encrypt 6 0 R /Size 7 /ID [${id} ${id}] >>\n%%EOF\n`;
  return Buffer.from(`%PDF-1.7\n${body}${trailer}`, 'latin1');
}

interface Encryption {
  /** Of the encryption dictionary. */
  entries: string;
  encrypt: (bytes: Buffer, object: number) => Buffer;
}

const ENCRYPTIONS: Record<PdfEncryption, () => Encryption> = {
  'RC4-40': () => {
    const key = fileKey(5, 0);
    const entries = `/V 1 /R 2 /O ${hex(OWNER)} /U ${hex(rc4(key, PAD))}`;
    return { entries, encrypt: (bytes, object) => rc4(objectKey(key, object, ''), bytes) };
  },
  'RC4-128': () => {
    const key = fileKey(16, 50);
    const entries = `/V 2 /R 3 /Length 128 ${passwords(key)}`;
    return { entries, encrypt: (bytes, object) => rc4(objectKey(key, object, ''), bytes) };
  },
  'AES-128': () => {
    const key = fileKey(16, 50);
    const entries = `/V 4 /R 4 /Length 128 ${passwords(key)} ${filter('AESV2', 16)}`;
    return { entries, encrypt: (bytes, object) => aes(objectKey(key, object, 'sAlT'), bytes) };
  },
  'AES-256-R5': () => aes256(5, (salt) => createHash('sha256').update(salt).digest()),
  'AES-256-R6': () => aes256(6, hardened),
};

function aes256(revision: number, hash: (salt: Buffer) => Buffer): Encryption {
  const key = Buffer.alloc(32, 3);
  const [validation, keySalt] = [Buffer.alloc(8, 1), Buffer.alloc(8, 2)];
  const user = Buffer.concat([hash(validation), validation, keySalt]);
  const cipher = createCipheriv('aes-256-cbc', hash(keySalt), Buffer.alloc(16)).setAutoPadding(false);
  const owner = Buffer.alloc(48, 9);
  const entries =
    `/V 5 /R ${revision} /Length 256 /U ${hex(user)} /UE ${hex(cipher.update(key))} /O ${hex(owner)} ` +
    `/OE ${hex(Buffer.alloc(32))} /Perms ${hex(Buffer.alloc(16))} ${filter('AESV3', 32)}`;
  return { entries, encrypt: (bytes) => aes(key, bytes) };
}

/** Algorithm 2.B, for an empty password. */
function hardened(salt: Buffer): Buffer {
  let key = createHash('sha256').update(salt).digest();
  for (let round = 0, last = 0; round < 64 || last > round - 32; round++) {
    const cipher = createCipheriv('aes-128-cbc', key.subarray(0, 16), key.subarray(16, 32)).setAutoPadding(
      false,
    );
    const mixed = cipher.update(Buffer.concat(Array.from({ length: 64 }, () => key)));
    const kind = mixed.subarray(0, 16).reduce((sum, byte) => sum + byte, 0) % 3;
    key = createHash(['sha256', 'sha384', 'sha512'][kind] ?? '')
      .update(mixed)
      .digest();
    last = mixed.at(-1) ?? 0;
  }
  return key.subarray(0, 32);
}

/** Algorithm 2, for an empty password. */
function fileKey(length: number, rounds: number): Buffer {
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(PERMISSIONS);
  let key = md5(PAD, OWNER, permissions, ID);
  for (let i = 0; i < rounds; i++) key = md5(key.subarray(0, length));
  return key.subarray(0, length);
}

/** Algorithm 5, for an empty password. */
function passwords(key: Buffer): string {
  let user = md5(PAD, ID);
  for (let i = 0; i < 20; i++) user = rc4(Buffer.from(key.map((byte) => byte ^ i)), user);
  return `/O ${hex(OWNER)} /U ${hex(Buffer.concat([user, Buffer.alloc(16)]))}`;
}

/** Algorithm 1. */
function objectKey(key: Buffer, object: number, salt: string): Buffer {
  const number = Buffer.from([object, 0, 0, 0, 0]);
  return md5(key, number, Buffer.from(salt)).subarray(0, Math.min(key.length + 5, 16));
}

function filter(method: string, length: number): string {
  return `/CF << /StdCF << /CFM /${method} /Length ${length} /AuthEvent /DocOpen >> >> /StmF /StdCF /StrF /StdCF`;
}

function aes(key: Buffer, bytes: Buffer): Buffer {
  const start = Buffer.alloc(16, 5);
  const cipher = createCipheriv(key.length === 32 ? 'aes-256-cbc' : 'aes-128-cbc', key, start);
  return Buffer.concat([start, cipher.update(bytes), cipher.final()]);
}

/** OpenSSL offers it no more. */
function rc4(key: Buffer, bytes: Buffer): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i);
  const at = (i: number): number => state[i & 255] ?? 0;
  const swap = (i: number, j: number): void => {
    [state[i & 255], state[j & 255]] = [at(j), at(i)];
  };
  for (let i = 0, j = 0; i < 256; i++) swap(i, (j = (j + at(i) + (key[i % key.length] ?? 0)) & 255));
  let j = 0;
  return Buffer.from(
    bytes.map((byte, n) => {
      const i = n + 1;
      j = (j + at(i)) & 255;
      swap(i, j);
      return byte ^ at(at(i) + at(j));
    }),
  );
}

function md5(...parts: readonly Buffer[]): Buffer {
  return createHash('md5').update(Buffer.concat(parts)).digest();
}

function hex(bytes: Buffer): string {
  return `<${bytes.toString('hex')}>`;
}
