/**
 * Token ids for text without a tokenizer: an id is a run of whole characters of at most three bytes, or one character
 * of four bytes. This needs no dictionary, ids are the same for all servers, and most tokenizers produce fewer tokens
 * for the same text: so a budget that fits in these units also fits in theirs.
 */

/** Roles of messages, the end of a message, and the delimiters of a thought. */
const MARKS = ['system', 'user', 'assistant', 'end', 'think', 'thought'] as const;
export type Mark = (typeof MARKS)[number];

/** Marks in a template are private-use characters, which become marks in templates only. */
const FIRST_MARK = 0x10_ff00;

const MOST_BYTES = 3;
const LENGTH_SHIFT = 24;
/** Flags of an id for one character of four bytes, and of an id for a mark. */
const WIDE = 0x0800_0000;
const CONTROL = 0x1000_0000;

/** The character that represents a mark in a template. */
export function markText(mark: Mark): string {
  return String.fromCodePoint(FIRST_MARK + MARKS.indexOf(mark));
}

export function markId(mark: Mark): number {
  return CONTROL | MARKS.indexOf(mark);
}

/** undefined for text. */
export function markOf(id: number): Mark | undefined {
  return id >= CONTROL ? MARKS[id & 0xff] : undefined;
}

/** `special`: characters that represent marks become marks. */
export function encode(text: string, special = false): Int32Array {
  const ids: number[] = [];
  let [packed, count] = [0, 0];
  const flush = (): void => {
    if (count > 0) ids.push((count << LENGTH_SHIFT) | packed);
    [packed, count] = [0, 0];
  };
  for (const char of text.toWellFormed()) {
    const code = char.codePointAt(0) as number;
    const mark = special ? MARKS[code - FIRST_MARK] : undefined;
    if (mark !== undefined || code > 0xffff) {
      flush();
      ids.push(mark === undefined ? WIDE | code : markId(mark));
      continue;
    }
    const bytes = utf8(code);
    if (count + bytes.length > MOST_BYTES) flush();
    for (const byte of bytes) packed |= byte << (8 * count++);
  }
  flush();
  return Int32Array.from(ids);
}

/** Marks have no text. */
export function decode(ids: Int32Array | readonly number[]): string {
  const bytes: number[] = [];
  for (const id of ids) {
    if (id >= CONTROL) continue;
    if (id >= WIDE) {
      bytes.push(...Buffer.from(String.fromCodePoint(id & 0x1f_ffff)));
      continue;
    }
    for (let i = 0; i < id >> LENGTH_SHIFT; i++) bytes.push((id >> (8 * i)) & 0xff);
  }
  return Buffer.from(bytes).toString('utf8');
}

function utf8(code: number): number[] {
  if (code < 0x80) return [code];
  if (code < 0x800) return [0xc0 | (code >> 6), 0x80 | (code & 0x3f)];
  return [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
}
