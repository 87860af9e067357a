import { expect, it } from 'vitest';
import { exportedNames } from './pe-exports.mjs';

/** A minimal 64-bit DLL: headers, one section at address 0x1000 and offset 0x200, and in it an export table. */
function dll(names: string[]): Buffer {
  const file = Buffer.alloc(0x600);
  file.write('MZ', 0);
  const pe = 0x80;
  file.writeUInt32LE(pe, 0x3c);
  file.write('PE\0\0', pe, 'latin1');
  file.writeUInt16LE(1, pe + 6); // sections
  file.writeUInt16LE(240, pe + 20); // size of the optional header
  file.writeUInt16LE(0x20b, pe + 24); // 64 bit
  file.writeUInt32LE(0x1000, pe + 24 + 112); // export table
  const section = pe + 24 + 240;
  file.writeUInt32LE(0x1000, section + 12);
  file.writeUInt32LE(0x400, section + 16);
  file.writeUInt32LE(0x200, section + 20);
  file.writeUInt32LE(names.length, 0x200 + 24);
  file.writeUInt32LE(0x1028, 0x200 + 32); // list of names
  let at = 0x228 + 4 * names.length;
  for (const [i, name] of names.entries()) {
    file.writeUInt32LE(at - 0x200 + 0x1000, 0x228 + 4 * i);
    at += file.write(`${name}\0`, at, 'latin1');
  }
  return file;
}

it('reads the names a DLL exports', () => {
  expect(exportedNames(dll(['ggml_init', 'ggml_free']))).toEqual(['ggml_init', 'ggml_free']);
});

it('reads a DLL without exports', () => {
  const file = dll([]);
  file.writeUInt32LE(0, 0x80 + 24 + 112);
  expect(exportedNames(file)).toEqual([]);
});

it('refuses other files', () => {
  expect(() => exportedNames(Buffer.alloc(0x100))).toThrow('not a Windows DLL');
});
