import { fromBuffer, type Entry, type ZipFile } from 'yauzl';
import { broken, encrypted, noText, reasonOf, tooLarge } from './errors.ts';
import type { SourceFile } from './format.ts';

/**
 * Limits on the unpacked size of a document. Large books have some 10 MB of text; files made to exhaust memory have many GB. Pictures are
 * not unpacked and do not count.
 */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;
const MAX_TOTAL_BYTES = 192 * 1024 * 1024;
const MAX_ENTRIES = 20_000;

/** Compound files: Office documents with a password, and those from before 2007. */
const OLE_MAGIC = 'd0cf11e0a1b11ae1';

/** A zip archive whose entries are unpacked within limits; the archive's claims about its sizes are not trusted. */
export class ZipArchive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #name: string;
  #total = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, name: string) {
    this.#zip = zip;
    this.#entries = entries;
    this.#name = name;
  }

  /** DOCUMENT_NO_TEXT for an empty file, DOCUMENT_UNREADABLE, DOCUMENT_ENCRYPTED, DOCUMENT_TOO_LARGE. */
  static async open({ bytes, name }: SourceFile): Promise<ZipArchive> {
    if (bytes.length === 0) throw noText(name, 'the file is empty');
    if (bytes.toString('hex', 0, 8) === OLE_MAGIC) throw encrypted(name);
    try {
      const zip = await openZip(archiveOf(bytes));
      return new ZipArchive(zip, await readEntries(zip, name), name);
    } catch (error) {
      if (error instanceof Error && error.name === 'KvasirError') throw error;
      throw broken(name, `its archive is damaged (${reasonOf(error)})`, error);
    }
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  /** The unpacked bytes of an entry; undefined when there is none. */
  async read(path: string): Promise<Buffer | undefined> {
    const entry = this.#entries.get(path);
    if (!entry) return undefined;
    if (entry.isEncrypted()) throw encrypted(this.#name);
    const parts: Buffer[] = [];
    await this.#unpack(entry, (part) => parts.push(part));
    return Buffer.concat(parts);
  }

  async text(path: string): Promise<string | undefined> {
    return (await this.read(path))?.toString('utf8').replace(/^\ufeff/, '');
  }

  /** For dependencies that unpack archives themselves: unpacks all matching entries once, to check the limits. */
  async check(matches: (path: string) => boolean): Promise<void> {
    for (const [path, entry] of this.#entries) {
      if (entry.isEncrypted()) throw encrypted(this.#name);
      if (matches(path)) await this.#unpack(entry, () => undefined);
    }
  }

  close(): void {
    this.#zip.close();
  }

  async #unpack(entry: Entry, take: (part: Buffer) => void): Promise<void> {
    let size = 0;
    try {
      for await (const part of await openEntry(this.#zip, entry)) {
        const bytes = part as Buffer;
        size += bytes.length;
        this.#total += bytes.length;
        if (size > MAX_ENTRY_BYTES || this.#total > MAX_TOTAL_BYTES) {
          throw tooLarge(this.#name, `it unpacks to more than ${Math.round(this.#total / 1024 / 1024)} MB`);
        }
        take(bytes);
      }
    } catch (error) {
      if (error instanceof Error && error.name === 'KvasirError') throw error;
      throw broken(this.#name, `its archive is damaged (${reasonOf(error)})`, error);
    }
  }
}

/** The end of an archive's directory (APPNOTE 4.3.16), which is followed by a comment only. */
const END = Buffer.from('PK\u0005\u0006', 'latin1');
const END_BYTES = 22;

/** An archive without the bytes before and after it that mail gateways and downloads leave, and other programs ignore. */
function archiveOf(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(END);
  if (end < 0 || end + END_BYTES > bytes.length) return bytes;
  const directory = bytes.readUInt32LE(end + 16);
  const shift = end - bytes.readUInt32LE(end + 12) - directory;
  const isEntry = (at: number): boolean => bytes.toString('latin1', at, at + 4) === 'PK\u0001\u0002';
  const start = shift > 0 && !isEntry(directory) && isEntry(directory + shift) ? shift : 0;
  return bytes.subarray(start, end + END_BYTES + bytes.readUInt16LE(end + 20));
}

function openZip(bytes: Buffer): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    // Sizes are checked while unpacking: with its built-in check, yauzl trusts an understated size.
    fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: false }, (error, zip) =>
      error ? reject(error) : resolve(zip),
    );
  });
}

function readEntries(zip: ZipFile, name: string): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on('error', reject);
    zip.on('end', () => resolve(entries));
    zip.on('entry', (entry: Entry) => {
      if (entries.size >= MAX_ENTRIES) {
        reject(tooLarge(name, `its archive has more than ${MAX_ENTRIES} entries`));
        return;
      }
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
}

function openEntry(zip: ZipFile, entry: Entry): Promise<NodeJS.ReadableStream> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
  });
}
