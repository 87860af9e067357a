/** The end of the JSON value that begins at `from`; undefined while it is incomplete. */
export function endOfJson(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '"') {
      const end = endOfString(text, at);
      if (end === undefined) return undefined;
      at = end - 1;
      if (depth === 0) return end;
    } else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') {
      if (depth <= 1) return depth === 1 ? at + 1 : at;
      depth--;
    } else if (depth === 0 && (char === ',' || /\s/.test(char))) return at;
  }
  return undefined;
}

function endOfString(text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return undefined;
}

/** The fields of the JSON object that begins at `from`, in their order; the last one may be incomplete. */
export function fieldsOf(
  text: string,
  from: number,
): { fields: Map<string, { value: string; isComplete: boolean }>; end: number | undefined } {
  const fields = new Map<string, { value: string; isComplete: boolean }>();
  let at = from + 1;
  for (;;) {
    at = behind(/[\s,]*/y, text, at);
    if (text[at] === '}') return { fields, end: at + 1 };
    const key = text[at] === '"' ? endOfString(text, at) : undefined;
    if (key === undefined) return { fields, end: undefined };
    const value = behind(/\s*:\s*/y, text, key);
    const end = value < text.length ? endOfJson(text, value) : undefined;
    const name = String(parsedOr(text.slice(at, key), ''));
    if (value > key) fields.set(name, { value: text.slice(value, end), isComplete: end !== undefined });
    if (end === undefined || value === key) return { fields, end: undefined };
    at = end;
  }
}

/** The position after a sticky expression's match, or the given one without a match. */
function behind(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
}

/** The value of a JSON text, or another where it has none. */
export function parsedOr(text: string, other: unknown): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return other;
  }
}
