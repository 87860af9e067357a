/** Seeded mutations of bytes and of text: what damage, other programs and attackers do to files. */
export type Random = () => number;

/** Numbers that parsers take for lengths, counts and offsets. */
const EXTREMES = [
  '0',
  '-1',
  '1',
  '255',
  '65536',
  '2147483647',
  '4294967296',
  '99999999999999999999',
  '1e999',
];
const WORDS = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff];

const MUTATIONS: ((bytes: Buffer, random: Random) => Buffer)[] = [
  flipBits,
  overwriteNumber,
  remove,
  repeat,
  moveRange,
  cutShort,
  changeDecimal,
  swapMarks,
];

/** One to four mutations of a copy. */
export function mutate(bytes: Buffer, random: Random): Buffer {
  let out = Buffer.from(bytes);
  for (let n = 1 + Math.floor(random() * 4); n > 0 && out.length > 0; n--)
    out = Buffer.from(pick(MUTATIONS, random)(out, random));
  return out;
}

export function pick<T>(list: readonly T[], random: Random): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}

function range(length: number, random: Random, most = 200): [begin: number, end: number] {
  const begin = Math.floor(random() * length);
  return [begin, Math.min(length, begin + 1 + Math.floor(random() * most))];
}

function flipBits(bytes: Buffer, random: Random): Buffer {
  for (let n = 1 + Math.floor(random() * 8); n > 0; n--) {
    const at = Math.floor(random() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  }
  return bytes;
}

function overwriteNumber(bytes: Buffer, random: Random): Buffer {
  if (bytes.length >= 4) bytes.writeUInt32LE(pick(WORDS, random), Math.floor(random() * (bytes.length - 3)));
  return bytes;
}

function remove(bytes: Buffer, random: Random): Buffer {
  const [begin, end] = range(bytes.length, random);
  return Buffer.concat([bytes.subarray(0, begin), bytes.subarray(end)]);
}

/** Up to a hundred times: nesting and lists without an end. */
function repeat(bytes: Buffer, random: Random): Buffer {
  const [begin, end] = range(bytes.length, random);
  const times = 1 + Math.floor(random() ** 4 * 100);
  const part = bytes.subarray(begin, end);
  return Buffer.concat([
    bytes.subarray(0, end),
    ...Array.from({ length: times }, () => part),
    bytes.subarray(end),
  ]);
}

function moveRange(bytes: Buffer, random: Random): Buffer {
  const [begin, end] = range(bytes.length, random);
  const to = Math.floor(random() * bytes.length);
  return Buffer.concat([bytes.subarray(0, to), bytes.subarray(begin, end), bytes.subarray(to)]);
}

function cutShort(bytes: Buffer, random: Random): Buffer {
  return bytes.subarray(0, Math.floor(random() * bytes.length));
}

function changeDecimal(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1');
  const [begin] = range(bytes.length, random);
  const number = /\d+/.exec(text.slice(begin));
  if (!number) return bytes;
  const at = begin + number.index;
  return Buffer.from(
    text.slice(0, at) + pick(EXTREMES, random) + text.slice(at + number[0].length),
    'latin1',
  );
}

/** Exchanges two tags, or two lines where there are none. */
function swapMarks(bytes: Buffer, random: Random): Buffer {
  const parts = bytes.toString('latin1').split(/(<[^<>]*>|\n)/);
  const [a, b] = [Math.floor(random() * parts.length), Math.floor(random() * parts.length)];
  [parts[a], parts[b]] = [parts[b] ?? '', parts[a] ?? ''];
  return Buffer.from(parts.join(''), 'latin1');
}
