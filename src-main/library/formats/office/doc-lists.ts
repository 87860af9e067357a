import type { XmlElement } from '../xml.ts';

/** Formats of numbers by their codes ([MS-OSHARED] 2.2.1.3). */
const FORMATS: Readonly<Record<number, string>> = {
  1: 'upperRoman',
  2: 'lowerRoman',
  3: 'upperLetter',
  4: 'lowerLetter',
  5: 'ordinal',
  18: 'decimalEnclosedCircle',
  22: 'decimalZero',
  23: 'bullet',
  37: 'chineseCounting',
  39: 'chineseCounting',
  255: 'none',
};

const MAX_LISTS = 4096;

/** The lists of a Word 97 document ([MS-DOC] 2.9.131 to 2.9.150), as the numbering part of a newer one has them. */
export function docNumbering(table: Buffer, lists: number, overrides: Buffer): XmlElement {
  const count = Math.min(lists < 0 || lists + 2 > table.length ? 0 : table.readUInt16LE(lists), MAX_LISTS);
  const numbering = make('numbering', {});
  let at = lists + 2 + count * 28;
  for (let i = 0; i < count; i += 1) {
    const head = lists + 2 + i * 28;
    const list = make('abstractNum', { abstractNumId: String(table.readUInt32LE(head)) });
    const levels = ((table[head + 26] ?? 0) & 1) === 1 ? 1 : 9;
    for (let level = 0; level < levels; level += 1) {
      const [element, next] = readLevel(table, at, level);
      list.children.push(element);
      at = next;
    }
    numbering.children.push(list);
  }
  addOverrides(numbering, overrides);
  return numbering;
}

/** A level, and the offset behind it. In its text, characters 0 to 8 stand for the numbers of levels. */
function readLevel(bytes: Buffer, at: number, level: number): [XmlElement, number] {
  const text = at + 28 + (bytes[at + 24] ?? 0) + (bytes[at + 25] ?? 0);
  const end = text + 2 + bytes.readUInt16LE(text) * 2;
  const letters = bytes.toString('utf16le', text + 2, end);
  const flags = bytes[at + 5] ?? 0;
  const element = make('lvl', { ilvl: String(level) });
  element.children.push(
    make('start', { val: String(bytes.readInt32LE(at)) }),
    make('numFmt', { val: FORMATS[bytes[at + 4] ?? 0] ?? 'decimal' }),
    make('lvlText', {
      val: Array.from(letters, (letter) => (letter < '\t' ? `%${letter.charCodeAt(0) + 1}` : letter)).join(
        '',
      ),
    }),
  );
  if ((flags & 4) !== 0) element.children.push(make('isLgl', {}));
  if ((flags & 8) !== 0) element.children.push(make('lvlRestart', { val: String(bytes[at + 26] ?? 0) }));
  return [element, end];
}

/** Instances of lists, counted from 1, with the levels that they start or define themselves. */
function addOverrides(numbering: XmlElement, bytes: Buffer): void {
  if (bytes.length < 4) return;
  const count = Math.min(bytes.readUInt32LE(0), MAX_LISTS);
  let at = 4 + count * 16;
  for (let i = 0; i < count; i += 1) {
    const head = 4 + i * 16;
    const num = make('num', { numId: String(i + 1) });
    num.children.push(make('abstractNumId', { val: String(bytes.readUInt32LE(head)) }));
    numbering.children.push(num);
    at += 4;
    for (let j = 0; j < (bytes[head + 12] ?? 0) && at + 8 <= bytes.length; j += 1) {
      const [start, flags] = [bytes.readInt32LE(at), bytes.readUInt32LE(at + 4)];
      const level = flags & 15;
      const override = make('lvlOverride', { ilvl: String(level) });
      at += 8;
      if ((flags & 16) !== 0) override.children.push(make('startOverride', { val: String(start) }));
      if ((flags & 32) !== 0) {
        const [element, next] = readLevel(bytes, at, level);
        override.children.push(element);
        at = next;
      }
      num.children.push(override);
    }
  }
}

function make(name: string, attributes: Record<string, string>): XmlElement {
  return { name, attributes, children: [] };
}
