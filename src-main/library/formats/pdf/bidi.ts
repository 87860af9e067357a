/** Hebrew, Arabic, Syriac, Thaana, N'Ko and their presentation forms. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u;
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;
const MIRRORED: Readonly<Record<string, string>> = {
  '(': ')',
  ')': '(',
  '[': ']',
  ']': '[',
  '{': '}',
  '}': '{',
};

/**
 * The text of glyphs that stand from left to right, in the order in which it is read: runs from right to left are turned round, and the
 * whole line is if most of it is such a run (a simple form of the Unicode Bidirectional Algorithm, rule L2).
 */
export function readingOrder(parts: readonly string[]): string {
  const text = parts.join('');
  if (!RIGHT_TO_LEFT.test(text)) return text;
  const isRight = (part: string): boolean => RIGHT_TO_LEFT.test(part);
  const right = parts.filter(isRight).length;
  const left = parts.filter((part) => !isRight(part) && /\p{L}/u.test(part)).length;
  if (right >= left) {
    const turned = turn(parts, 0, parts.length);
    return turnRuns(
      turned,
      (part) => !isRight(part) && LEFT_TO_RIGHT.test(part),
      (part) => part,
    ).join('');
  }
  return turnRuns(parts, isRight, mirror).join('');
}

/** Turns each run of parts that begins and ends with such a part and has no other letters in between. */
function turnRuns(
  parts: readonly string[],
  isOf: (part: string) => boolean,
  change: (part: string) => string,
): string[] {
  const isOther = (part: string): boolean => !isOf(part) && LEFT_TO_RIGHT.test(part);
  const result: string[] = [];
  for (let from = 0; from < parts.length;) {
    if (!isOf(parts[from] ?? '')) {
      result.push(parts[from++] ?? '');
      continue;
    }
    let to = from + 1;
    for (let i = to; i < parts.length && !isOther(parts[i] ?? ''); i++) if (isOf(parts[i] ?? '')) to = i + 1;
    result.push(...parts.slice(from, to).reverse().map(change));
    from = to;
  }
  return result;
}

function turn(parts: readonly string[], from: number, to: number): string[] {
  return parts.slice(from, to).reverse().map(mirror);
}

function mirror(part: string): string {
  return MIRRORED[part] ?? part;
}
