/**
 * Reads the names that a Windows DLL exports from the file, so that no Visual Studio tool has to be on PATH.
 *
 * Layout: offset 0x3c holds the offset of the "PE\0\0" header. The COFF header (20 bytes), the optional header and the section table
 * follow. Data directory 0 of the optional header gives the export table's memory address; the section table maps memory addresses to file
 * offsets.
 *
 * @param {Buffer} file
 * @returns {string[]}
 */
export function exportedNames(file) {
  const pe = file.readUInt32LE(0x3c);
  if (file.toString('latin1', pe, pe + 4) !== 'PE\0\0') throw new Error('This is not a Windows DLL.');
  const sectionCount = file.readUInt16LE(pe + 6);
  const optional = pe + 24;
  const sectionTable = optional + file.readUInt16LE(pe + 20);
  const is64Bit = file.readUInt16LE(optional) === 0x20b;
  const exportTable = file.readUInt32LE(optional + (is64Bit ? 112 : 96));
  if (exportTable === 0) return [];

  const sections = Array.from({ length: sectionCount }, (_, i) => {
    const at = sectionTable + 40 * i;
    return {
      address: file.readUInt32LE(at + 12),
      size: file.readUInt32LE(at + 16),
      offset: file.readUInt32LE(at + 20),
    };
  });
  const offsetOf = (/** @type {number} */ address) => {
    const section = sections.find((s) => address >= s.address && address < s.address + s.size);
    if (section === undefined) throw new Error('The export table points outside the file.');
    return address - section.address + section.offset;
  };

  const table = offsetOf(exportTable);
  const nameCount = file.readUInt32LE(table + 24);
  const names = offsetOf(file.readUInt32LE(table + 32));
  return Array.from({ length: nameCount }, (_, i) => {
    const start = offsetOf(file.readUInt32LE(names + 4 * i));
    return file.toString('latin1', start, file.indexOf(0, start));
  });
}
