const SECTOR = 512;
const END = 0xfffffffe;

/** A compound file ([MS-CFB]) with these streams; at most 109 sectors of its table. */
export function compoundFile(streams: Readonly<Record<string, Buffer>>): Buffer {
  const sectors: Buffer[] = [];
  const table: number[] = [];
  const put = (bytes: Buffer): number => {
    const first = sectors.length;
    const count = Math.ceil(bytes.length / SECTOR);
    for (let i = 0; i < count; i += 1) {
      const sector = Buffer.alloc(SECTOR);
      bytes.copy(sector, 0, i * SECTOR, (i + 1) * SECTOR);
      sectors.push(sector);
      table.push(i + 1 < count ? first + i + 1 : END);
    }
    return count === 0 ? END : first;
  };
  const entries = Object.entries(streams).map(([name, bytes]) =>
    directoryEntry(name, 2, put(bytes), bytes.length),
  );
  const directory = put(Buffer.concat([directoryEntry('Root Entry', 5, END, 0), ...entries]));
  const count = Math.ceil((table.length + 1) / 127);
  const places = Array.from({ length: count }, (_, i) => table.length + i);
  const list = [...table, ...places.map(() => 0xfffffffd)];
  const bytes = Buffer.alloc(count * SECTOR, 0xff);
  list.forEach((next, i) => bytes.writeUInt32LE(next, i * 4));
  const header = Buffer.alloc(SECTOR, 0);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(count, 44);
  header.writeUInt32LE(directory, 48);
  header.writeUInt32LE(0, 56); // no stream is kept among the small ones
  header.writeUInt32LE(END, 60);
  header.writeUInt32LE(END, 68);
  header.fill(0xff, 76);
  places.forEach((place, i) => header.writeUInt32LE(place, 76 + i * 4));
  return Buffer.concat([header, ...sectors, bytes]);
}

function directoryEntry(name: string, type: number, start: number, size: number): Buffer {
  const entry = Buffer.alloc(128);
  entry.write(name, 0, 'utf16le');
  entry.writeUInt16LE(name.length * 2 + 2, 64);
  entry[66] = type;
  entry.fill(0xff, 68, 80);
  entry.writeUInt32LE(start, 116);
  entry.writeUInt32LE(size, 120);
  return entry;
}

interface OldDocument {
  /** Body, then footnotes, headers, comments; paragraphs end with \r, cells with \x07. */
  text: string;
  /** Lengths of the parts of the text. */
  lengths: { body: number; footnotes?: number; headers?: number };
  /** Formatting of all characters: where each run ends, and its modifiers as hexadecimal digits. */
  runs?: readonly (readonly [end: number, modifiers: string])[];
  /** Formatting of paragraphs: where each run ends, its style and its modifiers. */
  paragraphs?: readonly (readonly [end: number, style: number, modifiers?: string])[];
  /** Positions of references and of the notes' bounds. */
  footnotes?: { references: readonly number[]; bounds: readonly number[] };
  headers?: readonly number[];
  flags?: number;
  /** Lists and their instances, as hexadecimal digits. */
  lists?: string;
  instances?: string;
}

const TEXT_AT = 1024;

/** A document of Word 97 ([MS-DOC]). Style 1 is the heading of level 1. */
export function oldWordFile({
  text,
  lengths,
  runs = [],
  paragraphs = [],
  footnotes,
  headers = [],
  flags = 0,
  lists = '',
  instances = '',
}: OldDocument): Buffer {
  const header = Buffer.alloc(TEXT_AT);
  header.writeUInt16LE(0xa5ec, 0);
  header.writeUInt16LE(0x200 | flags, 10);
  header.writeInt32LE(lengths.body, 0x4c);
  header.writeInt32LE(lengths.footnotes ?? 0, 0x50);
  header.writeInt32LE(lengths.headers ?? 0, 0x54);
  const letters = Buffer.from(text, 'utf16le');
  const padded = Buffer.alloc(Math.ceil(letters.length / SECTOR) * SECTOR);
  letters.copy(padded);
  const page = (TEXT_AT + padded.length) / SECTOR;
  const tables: Buffer[] = [];
  const add = (at: number, table: Buffer): void => {
    header.writeUInt32LE(Buffer.concat(tables).length, at);
    header.writeUInt32LE(table.length, at + 4);
    tables.push(table);
  };
  const numbers = (...list: number[]): Buffer => Buffer.from(Uint32Array.from(list).buffer);
  const piece = Buffer.concat([
    numbers(0, text.length),
    Buffer.from([0, 0]),
    numbers(TEXT_AT),
    Buffer.from([0, 0]),
  ]);
  add(0x1a2, Buffer.concat([Buffer.from([2]), numbers(piece.length), piece]));
  add(0xfa, numbers(TEXT_AT, TEXT_AT + letters.length, page));
  add(0x102, numbers(TEXT_AT, TEXT_AT + letters.length, page + 1));
  const style = (builtIn: string): string => `0e00${builtIn}f1ff${'00'.repeat(10)}`;
  add(0xa2, Buffer.from(`120002000a00${'00'.repeat(14)}${style('0000')}${style('0100')}`, 'hex'));
  if (footnotes) {
    add(
      0xaa,
      Buffer.concat([
        numbers(...footnotes.references, lengths.body),
        Buffer.alloc(footnotes.references.length * 2),
      ]),
    );
    add(0xb2, numbers(...footnotes.bounds));
  }
  add(0xf2, numbers(...headers));
  add(0x2e2, Buffer.from(lists, 'hex'));
  add(0x2ea, Buffer.from(instances, 'hex'));
  const characters = formattingPage(
    runs.map(([end, modifiers]) => [end, Buffer.from(modifiers, 'hex')]),
    1,
  );
  const styles = formattingPage(
    paragraphs.map(([end, style, modifiers = '']) => [
      end,
      Buffer.concat([Buffer.from([style, 0]), Buffer.from(modifiers, 'hex')]),
    ]),
    13,
  );
  return compoundFile({
    WordDocument: Buffer.concat([header, padded, characters, styles]),
    '1Table': Buffer.concat(tables),
  });
}

function formattingPage(
  runs: readonly (readonly [end: number, formatting: Buffer])[],
  entryBytes: 1 | 13,
): Buffer {
  const page = Buffer.alloc(SECTOR);
  page[SECTOR - 1] = runs.length;
  page.writeUInt32LE(TEXT_AT, 0);
  let at = SECTOR - 2;
  runs.forEach(([end, formatting], i) => {
    page.writeUInt32LE(TEXT_AT + end * 2, (i + 1) * 4);
    at = (at - formatting.length - 3) & ~1;
    page[(runs.length + 1) * 4 + i * entryBytes] = at / 2;
    if (entryBytes === 1) page[at] = formatting.length;
    else page[at + 1] = Math.ceil(formatting.length / 2);
    formatting.copy(page, at + (entryBytes === 1 ? 1 : 2));
  });
  return page;
}

/** A record of PowerPoint 97 ([MS-PPT]); a container for a list of them. */
export function record(type: number, content: Buffer | readonly Buffer[], instance = 0): Buffer {
  const isContainer = !Buffer.isBuffer(content);
  const bytes = Buffer.isBuffer(content) ? content : Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt16LE((instance << 4) | (isContainer ? 15 : 0), 0);
  head.writeUInt16LE(type, 2);
  head.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([head, bytes]);
}

/** A presentation of PowerPoint 97 from the objects that it consists of; the first is its document. */
export function oldSlidesFile(objects: readonly Buffer[], token = 0xe391c05f): Buffer {
  const places: number[] = [];
  let at = 0;
  for (const object of objects) {
    places.push(at);
    at += object.length;
  }
  const numbers = (...list: number[]): Buffer => Buffer.from(Uint32Array.from(list).buffer);
  const directory = record(0x1772, numbers((objects.length * 2 ** 20 + 1) >>> 0, ...places));
  const edit = record(0x0ff5, numbers(256, 0, 0, at, 1, objects.length + 1, 0));
  const user = record(0x0ff6, numbers(20, token, at + directory.length, 0, 0));
  return compoundFile({
    'PowerPoint Document': Buffer.concat([...objects, directory, edit]),
    'Current User': user,
  });
}
