/**
 * Fakes of engine and model: chunk files with a header, a checksum and a payload derived from the chunk's identity, so
 * that a test can verify the data it was served. Only files are real. The file is long because it fakes model and files
 * together.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { KvasirError, type ErrorCode } from '../../src-shared/errors.ts';
import { ChunkKv, type ChunkHeader, type KvDtype } from '../engine/engine.ts';
import { chunkKey, prefixHash, prefixKey } from '../kvstore/hash.ts';
import {
  ChunkStore,
  type Access,
  type ChunkFiles,
  type ChunkOpener,
  type Lease,
  type StoreOptions,
} from '../kvstore/store.ts';

/** The native part of a chunk, which only the engine may access. */
type NativeChunk = ChunkKv['native'];

const FORMAT_VERSION = 1;

interface FakeHeader extends Omit<ChunkHeader, 'tokens'> {
  tokens: number[];
  sum: string;
}

/** The KV of an identity: any change to fingerprint, prefix, dtype or tokens changes it. */
function payloadOf(
  header: { fingerprint: string; prefixHash: string; dtype: KvDtype; tokens: Int32Array },
  bytes: number,
) {
  const seed = createHash('sha256').update(
    JSON.stringify([header.fingerprint, header.prefixHash, header.dtype, [...header.tokens]]),
  );
  const block = seed.digest();
  return Buffer.alloc(bytes, block);
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function parseFile(path: string): { header: FakeHeader; payload: Buffer } {
  const file = readFileSync(path);
  return parseBytes(file, file.length);
}

/** The beginning of a file of `fileBytes` bytes. */
function parseBytes(file: Buffer, fileBytes: number): { header: FakeHeader; payload: Buffer } {
  const end = file.indexOf(10);
  const corrupt = (what: string): KvasirError =>
    new KvasirError('CHUNK_CORRUPT', `the chunk file is damaged: ${what}`);
  if (end < 0) throw corrupt('no header');
  let header: FakeHeader;
  try {
    header = JSON.parse(file.subarray(0, end).toString()) as FakeHeader;
  } catch (cause) {
    throw corrupt(`header (${String(cause)})`);
  }
  if (header.version > FORMAT_VERSION)
    throw new KvasirError('CHUNK_VERSION', 'The chunk file has a newer format.');
  if (header.fileBytes !== fileBytes) throw corrupt('size');
  return { header, payload: file.subarray(end + 1) };
}

class FakeChunk implements NativeChunk {
  readonly tokens: Int32Array;
  readonly dtype: KvDtype;
  readonly bytes: number;
  readonly header: ChunkHeader;
  readonly path: string | undefined;
  /** The checksum when the file was opened, like the engine's. */
  readonly #sum: string;
  disposed = false;
  memory: Buffer | undefined;
  /** Set to block or fail pullIn. */
  gate: Promise<void> | undefined;
  /** Data that has arrived so far, and why no more will. */
  #arrived = Buffer.alloc(0);
  failure: { code: ErrorCode; message: string } | undefined;

  constructor(
    header: ChunkHeader,
    bytes: number,
    source: { path: string; sum: string } | { memory: Buffer } | { sum: string },
  ) {
    this.header = header;
    this.tokens = header.tokens;
    this.dtype = header.dtype;
    this.bytes = bytes;
    this.path = 'path' in source ? source.path : undefined;
    this.#sum = 'sum' in source ? source.sum : '';
    this.memory = 'memory' in source ? source.memory : undefined;
  }

  get inMemory(): boolean {
    return this.memory !== undefined;
  }

  async save(path: string): Promise<number> {
    this.#requireLive();
    return writeChunkFile(path, this.header, this.read());
  }

  converted(dtype: KvDtype): Promise<NativeChunk> {
    const header = { ...this.header, dtype };
    return Promise.resolve(new FakeChunk(header, this.bytes, { memory: payloadOf(header, this.bytes) }));
  }

  async pullIn(): Promise<void> {
    this.#requireLive();
    await this.gate;
    await Promise.resolve();
    this.memory = this.read();
  }

  /** Reads the payload and verifies it, as a use of the chunk does. */
  read(): Buffer {
    this.#requireLive();
    if (this.memory) return this.memory;
    const { payload } = parseFile(this.path ?? '');
    if (sha256(payload) !== this.#sum)
      throw new KvasirError('CHUNK_CORRUPT', 'the checksum of a layer is wrong');
    return payload;
  }

  /** Whether the payload matches this identity's KV. */
  isRight(): boolean {
    return this.read().equals(payloadOf(this.header, this.bytes));
  }

  receive(bytes: Uint8Array): void {
    this.#requireLive();
    this.#arrived = Buffer.concat([this.#arrived, bytes]);
    if (this.#arrived.length < this.bytes) return;
    if (sha256(this.#arrived) !== this.#sum) {
      this.fail('CHUNK_CORRUPT', 'the checksum of a layer is wrong');
      throw new KvasirError('CHUNK_CORRUPT', 'the checksum of a layer is wrong');
    }
    this.memory = this.#arrived;
  }

  fail(code: ErrorCode, message: string): void {
    if (!this.memory) this.failure ??= { code, message };
  }

  dispose(): void {
    if (this.disposed) throw new Error('FakeChunk: disposed twice');
    this.disposed = true;
  }

  #requireLive(): void {
    if (this.disposed) throw new Error('FakeChunk: used after dispose');
  }
}

/** Writes and fsyncs a chunk file; returns its size. */
function writeChunkFile(path: string, header: ChunkHeader, payload: Buffer): number {
  const fields: FakeHeader = { ...header, tokens: [...header.tokens], sum: sha256(payload), fileBytes: 0 };
  // The size is in the header, and the header's length depends on the size.
  for (let size = -1; size !== fields.fileBytes;) {
    size = fields.fileBytes;
    fields.fileBytes = JSON.stringify(fields).length + 1 + payload.length;
  }
  const fd = openSync(path, 'w');
  try {
    const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(fields)}\n`), payload]);
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return fields.fileBytes;
}

export const fakeFiles: ChunkFiles = {
  async readChunkHeader(path) {
    const { header } = parseFile(path);
    return { ...header, tokens: Int32Array.from(header.tokens) };
  },
  async verifyChunk(path) {
    const { header, payload } = parseFile(path);
    if (sha256(payload) !== header.sum)
      throw new KvasirError('CHUNK_CORRUPT', 'the checksum of layer 0 is wrong');
  },
};

/** Encodes and opens chunks; records all it opened, so that a test can check that each is disposed once. */
export class FakeModel implements ChunkOpener {
  readonly fingerprint: string;
  readonly prefix: Int32Array;
  readonly opened: FakeChunk[] = [];
  /** Called before a file is opened. */
  onOpen: ((path: string) => Promise<void> | void) | undefined;

  constructor(fingerprint = 'a'.repeat(64), prefix = Int32Array.of(1)) {
    this.fingerprint = fingerprint;
    this.prefix = prefix;
  }

  /** A chunk of `bytes` of KV that differs for each `id`. */
  encode(id: number, bytes = 1000, version = FORMAT_VERSION): { key: string; chunk: ChunkKv } {
    return this.encodeTokens(Int32Array.of(id, -id, 7), { bytes, version });
  }

  encodeTokens(
    tokens: Int32Array,
    {
      bytes = 1000,
      version = FORMAT_VERSION,
      dtype = 'f16',
    }: { bytes?: number; version?: number; dtype?: KvDtype } = {},
  ): { key: string; chunk: ChunkKv } {
    const identity = {
      fingerprint: this.fingerprint,
      prefixHash: prefixHash(this.prefix),
      dtype,
      tokens,
    } as const;
    const header: ChunkHeader = { ...identity, version, layers: 2, fileBytes: 0 };
    return {
      key: chunkKey({ fingerprint: this.fingerprint, prefix: this.prefix, dtype, tokens }),
      chunk: new ChunkKv(new FakeChunk(header, bytes, { memory: payloadOf(identity, bytes) })),
    };
  }

  /** A prefix block; no text chunk has its tokens. */
  encodePrefix(id: number, bytes = 1000): { key: string; chunk: ChunkKv } {
    const { chunk } = this.encode(1_000_000 + id, bytes);
    const { fingerprint, prefix } = this;
    const root = prefixHash(prefix);
    return { key: prefixKey({ fingerprint, root, dtype: 'f16', tokens: chunk.tokens }), chunk };
  }

  async openChunk(path: string): Promise<ChunkKv> {
    await this.onOpen?.(path);
    const { header, payload } = parseFile(path);
    if (header.fingerprint !== this.fingerprint || header.prefixHash !== prefixHash(this.prefix)) {
      throw new KvasirError('CHUNK_MISMATCH', 'The chunk file belongs to another model.');
    }
    const chunk = new FakeChunk({ ...header, tokens: Int32Array.from(header.tokens) }, payload.length, {
      path,
      sum: header.sum,
    });
    this.opened.push(chunk);
    return new ChunkKv(chunk);
  }

  receiveChunk(key: string, beginning: Uint8Array, fileBytes: number): ChunkKv {
    const { header, payload } = parseBytes(Buffer.from(beginning), fileBytes);
    const tokens = Int32Array.from(header.tokens);
    if (chunkKey({ fingerprint: this.fingerprint, prefix: this.prefix, dtype: header.dtype, tokens }) !== key)
      throw new KvasirError('CHUNK_CORRUPT', 'The chunk file holds another chunk.');
    const bytes = fileBytes - beginning.length + payload.length;
    const chunk = new FakeChunk({ ...header, tokens }, bytes, { sum: header.sum });
    chunk.receive(payload);
    this.opened.push(chunk);
    return new ChunkKv(chunk);
  }

  get live(): number {
    return this.opened.filter((chunk) => !chunk.disposed).length;
  }
}

export function fake(chunk: ChunkKv): FakeChunk {
  if (chunk.native instanceof FakeChunk) return chunk.native;
  throw new TypeError('fake: not a FakeChunk');
}

/** In memory if available: these tests fsync thousands of times. */
const TEMP_BASE = isWritable('/dev/shm') ? '/dev/shm' : tmpdir();

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A folder that is deleted after the test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(TEMP_BASE, 'kvasir-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A store that is closed after the test; defaults: roomy budgets, no RAM tier. */
export async function openTestStore(options: Partial<StoreOptions> & { dir: string }): Promise<ChunkStore> {
  const store = await ChunkStore.open({
    diskBudgetBytes: 1e9,
    ramBudgetBytes: 0,
    files: fakeFiles,
    ...options,
  });
  onTestFinished(() => store.close());
  return store;
}

/** Size of the file of one FakeModel chunk with `bytes` of KV. */
export function fileBytes(dir: string, model: FakeModel, id: number, bytes: number): number {
  const probe = join(dir, `probe-${id}`);
  const { chunk } = model.encode(id, bytes);
  const size = writeChunkFile(probe, fake(chunk).header, fake(chunk).read());
  rmSync(probe);
  return size;
}

export function chunkPath(dir: string, key: string, version = FORMAT_VERSION): string {
  return join(dir, 'chunks', key.slice(0, 2), `${key}.v${version}.kvc`);
}

export function hasFile(dir: string, key: string): boolean {
  return existsSync(chunkPath(dir, key));
}

export const model = new FakeModel();

/** Keys of the model's chunks 10, 11, … (Ids of equal length make files of equal size.) */
export const A = model.encode(10).key;
export const B = model.encode(11).key;
export const C = model.encode(12).key;
export const D = model.encode(13).key;

/** A store with room for `count` chunks of 1000 bytes. */
export async function storeFor(count: number, ramBudgetBytes = 0) {
  const dir = tempDir();
  const each = fileBytes(dir, model, 10, 1000);
  const store = await openTestStore({ dir, diskBudgetBytes: each * count, ramBudgetBytes });
  return { dir, store, each };
}

/** Puts the first `count` of the chunks above and returns their keys. */
export async function fill(store: ChunkStore, count: number): Promise<string[]> {
  const keys: string[] = [];
  for (let id = 10; id < 10 + count; id++) {
    const { key, chunk } = model.encode(id);
    await store.put(key, chunk);
    keys.push(key);
  }
  return keys;
}

/** Leases a chunk that must exist. */
export async function take(
  store: ChunkStore,
  key: string,
  opener: ChunkOpener = model,
  access?: Access,
): Promise<Lease> {
  const lease = await store.acquire(key, opener, access);
  expect(lease, 'a lease').toBeDefined();
  if (!lease) throw new Error('unreachable');
  return lease;
}

export async function touch(store: ChunkStore, key: string, name = 'other'): Promise<void> {
  (await take(store, key, model, { class: name })).release();
}

export function held(store: ChunkStore, keys: string[]): boolean[] {
  return keys.map((key) => store.has(key));
}

/** Inverts one byte; a negative position counts from the end. */
export function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const i = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(i) ^ 0xff, i);
  writeFileSync(path, bytes);
}

/** Whether this process may mount, so that tests can use real read-only and tiny file systems. */
export const canMount = ((): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', dir], { stdio: 'ignore' });
    execFileSync('umount', [dir]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
})();

/** An empty file system of a given size (as `mount` takes it) that is removed after the test. */
export function mountTmpfs(size: string): string {
  const dir = tempDir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir]);
  onTestFinished(() => void execFileSync('umount', ['-l', dir]));
  return dir;
}
