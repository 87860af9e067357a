import { crc32, deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ZipArchive } from './zip.ts';

interface ZipOptions {
  /** Added to the sizes that the directory tells. */
  wrongSize?: number;
  method?: number;
  /** Whether numbers are in ZIP64's records. */
  wide?: boolean;
  flags?: number;
}

/** An archive of these files. */
function zip(files: readonly (readonly [name: string, content: string])[], options: ZipOptions = {}): Buffer {
  const { wrongSize = 0, method = 8, wide = false, flags = 0x800 } = options;
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of files) {
    const data = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const path = Buffer.from(name);
    const sizes = [crc32(content), data.length + wrongSize, content.length + wrongSize] as const;
    const extra = wide
      ? bytes(['u16', 1], ['u16', 24], ['u64', content.length], ['u64', data.length], ['u64', offset])
      : Buffer.alloc(0);
    const told = wide ? ([sizes[0], 0xffffffff, 0xffffffff] as const) : sizes;
    const common = (all: readonly number[], extraBytes: number): Buffer =>
      bytes(
        ['u16', 20],
        ['u16', flags],
        ['u16', method],
        ['u32', 0],
        ...all.map((n) => ['u32', n] as const),
        ['u16', path.length],
        ['u16', extraBytes],
      );
    parts.push(bytes(['u32', 0x04034b50]), common([sizes[0], data.length, content.length], 0), path, data);
    directory.push(
      bytes(['u32', 0x02014b50], ['u16', 20]),
      common(told, extra.length),
      bytes(['u16', 0], ['u16', 0], ['u16', 0], ['u32', 0], ['u32', wide ? 0xffffffff : offset]),
      path,
      extra,
    );
    offset = parts.reduce((sum, part) => sum + part.length, 0);
  }
  const list = Buffer.concat(directory);
  const [count, size, start] = wide ? [0xffff, 0xffffffff, 0xffffffff] : [files.length, list.length, offset];
  const records = wide
    ? bytes(
        ['u32', 0x06064b50],
        ['u64', 44],
        ['u32', 0],
        ['u64', 0],
        ['u64', files.length],
        ['u64', files.length],
        ['u64', list.length],
        ['u64', offset],
        ['u32', 0x07064b50],
        ['u32', 0],
        ['u64', offset + list.length],
        ['u32', 1],
      )
    : Buffer.alloc(0);
  const end = bytes(
    ['u32', 0x06054b50],
    ['u32', 0],
    ['u16', count],
    ['u16', count],
    ['u32', size],
    ['u32', start],
    ['u16', 0],
  );
  return Buffer.concat([...parts, list, records, end]);
}

function bytes(...fields: readonly (readonly ['u16' | 'u32' | 'u64', number])[]): Buffer {
  return Buffer.concat(
    fields.map(([kind, value]) => {
      const field = Buffer.alloc({ u16: 2, u32: 4, u64: 8 }[kind]);
      if (kind === 'u64') field.writeBigUInt64LE(BigInt(value));
      else field.writeUIntLE(value >>> 0, 0, field.length);
      return field;
    }),
  );
}

const PATH = 'word/document.xml';
const TEXT = 'The weir at Orm is 30 cm high.';
const FILE = [[PATH, TEXT]] as const;
const OLE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

async function read(archive: Buffer, path = PATH): Promise<string | undefined> {
  return (await (await ZipArchive.open({ name: 'a.docx', bytes: archive })).read(path))?.toString();
}

describe('an archive is read', () => {
  test.each([
    ['as it should be', zip(FILE)],
    ['stored', zip(FILE, { method: 0 })],
    ['with ZIP64 records', zip(FILE, { wide: true })],
    ['with bytes before it', Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), zip(FILE)])],
    ['with a line end behind it', Buffer.concat([zip(FILE), Buffer.from('\r\n')])],
    ['with much padding behind it', Buffer.concat([zip(FILE), Buffer.alloc(200_000)])],
    [
      'with both, and ZIP64',
      Buffer.concat([Buffer.from('MZ'), zip(FILE, { wide: true }), Buffer.from('PK\x05\x06')]),
    ],
    ['with sizes that are too small', zip(FILE, { wrongSize: -3 })],
    ['with sizes that are too large', zip(FILE, { wrongSize: 100_000 })],
    ['with backslashes in its names', zip([['word\\document.xml', TEXT]])],
    ['with a slash before its names', zip([['/word/document.xml', TEXT]])],
    ['with names in another case', zip([['Word/Document.xml', TEXT]])],
    ['with two files of a name, the last', zip([[PATH, 'old'], ...FILE])],
    ['with a name that leads out of it', zip([...FILE, ['../../up.xml', 'x']])],
  ])('%s', async (_, archive) => {
    expect(await read(archive)).toBe(TEXT);
  });

  test('with names in the encoding of DOS', async () => {
    const archive = Buffer.from(
      zip([['b_.xml', TEXT]], { flags: 0 })
        .toString('latin1')
        .replaceAll('b_', 'b\x81'),
      'latin1',
    );
    expect(await read(archive, 'bü.xml')).toBe(TEXT);
  });
});

describe('the reason is named when', () => {
  const whole = zip(FILE);
  test.each([
    ['the file is empty', Buffer.alloc(0), /the file is empty/],
    ['it was never written', Buffer.alloc(3000), /all of its .* are zeros/],
    ['its end is missing', whole.subarray(0, -30), /the end of the file is missing/],
    ['it is something else', Buffer.from('hello'), /not those of a \.docx file/],
    ['a part is damaged', Buffer.from(whole).fill(0xff, 50, 60), /damaged in the part word\/document\.xml/],
    ['a part is packed unusually', zip(FILE, { method: 12 }), /unusual way \(method 12\)/],
    ['it has a password', zip(FILE, { flags: 0x801 }), /password/],
    ['it unpacks to too much', zip([[PATH, ' '.repeat(70_000_000)]]), /unpacks to more than 64 MB/],
    ['Office protected it', Buffer.concat([OLE, Buffer.from('EncryptedPackage', 'utf16le')]), /password/],
  ])('%s', async (_, archive, message) => {
    await expect(read(archive)).rejects.toThrow(message);
  });
});
