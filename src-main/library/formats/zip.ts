import { inflateRawSync } from 'node:zlib';
import type { KvasirError } from '../../../src-shared/errors.ts';
import { blank, broken, encrypted, tooLarge } from './errors.ts';
import type { SourceFile } from './format.ts';
import { COMPOUND_MAGIC } from './office/compound.ts';
import { readDirectory, type ZipDirectory, type ZipEntry } from './zip-directory.ts';

/**
 * Limits on the unpacked size of a document. Large books have some 10 MB of text; files made to exhaust memory have many GB. Pictures are
 * not unpacked and do not count.
 */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;
const MAX_TOTAL_BYTES = 192 * 1024 * 1024;

/** Compression methods (APPNOTE.TXT 4.4.5). */
const STORED = 0;
const DEFLATED = 8;

/**
 * A zip archive whose entries are unpacked within limits; the archive's claims about its sizes are not trusted. Of entries of one name the
 * last is read, as it is by programs that update archives. Names are compared without case where no entry has the exact name (ECMA-376
 * part 2, 6.2.2.3).
 */
export class ZipArchive {
  readonly #directory: ZipDirectory;
  readonly #entries = new Map<string, ZipEntry>();
  readonly #byLowerCase = new Map<string, ZipEntry>();
  readonly #name: string;
  #total = 0;

  private constructor(directory: ZipDirectory, name: string) {
    this.#directory = directory;
    this.#name = name;
    for (const entry of directory.entries) {
      this.#entries.set(entry.name, entry);
      this.#byLowerCase.set(entry.name.toLowerCase(), entry);
    }
  }

  /** DOCUMENT_NO_TEXT for an empty file, DOCUMENT_UNREADABLE, DOCUMENT_ENCRYPTED, DOCUMENT_TOO_LARGE. */
  static open({ bytes, name }: SourceFile): Promise<ZipArchive> {
    return new Promise((resolve) => {
      if (!bytes.some((byte) => byte !== 0)) throw blank(name, bytes);
      if (bytes.toString('hex', 0, 8) === COMPOUND_MAGIC) throw encrypted(name);
      resolve(new ZipArchive(readDirectory(bytes, name), name));
    });
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  has(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** The unpacked bytes of an entry; undefined when there is none. */
  read(path: string): Promise<Buffer | undefined> {
    return new Promise((resolve) => {
      const entry = this.#find(path);
      resolve(entry && this.#unpack(entry));
    });
  }

  #find(path: string): ZipEntry | undefined {
    return this.#entries.get(path) ?? this.#byLowerCase.get(path.toLowerCase());
  }

  #unpack(entry: ZipEntry): Buffer {
    if (entry.encrypted) throw encrypted(this.#name);
    const limit = Math.min(MAX_ENTRY_BYTES, MAX_TOTAL_BYTES - this.#total);
    const unpacked = this.#inflate(entry, limit);
    this.#total += unpacked.length;
    return unpacked;
  }

  #inflate(entry: ZipEntry, limit: number): Buffer {
    const tooMuch = (): KvasirError =>
      tooLarge(this.#name, `it unpacks to more than ${Math.round((this.#total + limit) / 1024 / 1024)} MB`);
    const data = this.#directory.dataOf(entry);
    if (data === undefined) throw this.#damaged(entry);
    if (entry.method === STORED) {
      if (data.length > limit) throw tooMuch();
      return data;
    }
    if (entry.method !== DEFLATED) {
      throw broken(
        this.#name,
        `its part ${entry.name} is compressed in an unusual way (method ${entry.method})`,
      );
    }
    try {
      return inflateRawSync(data, { maxOutputLength: Math.max(1, limit) });
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
        ? tooMuch()
        : this.#damaged(entry, error);
    }
  }

  #damaged(entry: ZipEntry, cause?: unknown): KvasirError {
    return broken(this.#name, `its archive is damaged in the part ${entry.name}`, cause);
  }
}
