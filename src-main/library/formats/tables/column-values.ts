type ColumnType = 'number' | 'date' | 'text';

/** A cell of a typed column: numbers without their unit, dates as 2026-03-19, null where the cell is empty or has no such value. */
export type CellValue = number | string | null;

interface TypedColumn {
  type: ColumnType;
  /** What stands beside its numbers, such as “€”, “%” or “kg”; undefined: nothing, or not the same everywhere. */
  unit: string | undefined;
  /** One a row. */
  values: CellValue[];
  /** Filled cells without a value of the type, e.g. “n/a” among numbers. */
  unread: number;
}

/** Of the filled cells, how many must have values of a type. */
const LEAST_SHARE = 0.95;
const MAX_UNIT = 12;

/** Types of a column's texts; undefined stands for an empty cell. `decimalComma`: how 1,234 is read if nothing else tells. */
export function typeColumn(texts: readonly (string | undefined)[], decimalComma = false): TypedColumn {
  const filled = texts.flatMap((text) => text?.trim() || []);
  const typed = numbersOf(filled, decimalComma) ?? datesOf(filled);
  if (!typed) {
    const values = texts.map((text) => text?.replace(/\s+/g, ' ').trim() || null);
    return { type: 'text', unit: undefined, values, unread: 0 };
  }
  const { type, unit, read } = typed;
  const values = texts.map((text) => (text?.trim() ? (read(text.trim()) ?? null) : null));
  return { type, unit, values, unread: filled.length - values.filter((value) => value !== null).length };
}

interface Reading {
  type: ColumnType;
  unit?: string | undefined;
  read: (text: string) => CellValue | undefined;
}

interface NumberParts {
  digits: string;
  negative: boolean;
  unit: string;
}

const GROUP = "[ '’\u00a0\u202f]";
/** Digits with a decimal point, or with a decimal comma; groups of three have the other mark between them. */
const POINT = new RegExp(
  `^(?:\\d+|\\d{1,3}(?:,\\d{3})+|\\d{1,3}(?:${GROUP}\\d{3})+)(?:\\.\\d+)?(?:[eE][-+]?\\d+)?$`,
);
const COMMA = new RegExp(`^(?:\\d+|\\d{1,3}(?:\\.\\d{3})+|\\d{1,3}(?:${GROUP}\\d{3})+)(?:,\\d+)?$`);

/** Numbers of one convention; undefined unless most of the texts are. Numbers with leading zeros are names, e.g. postcodes. */
function numbersOf(filled: readonly string[], decimalComma: boolean): Reading | undefined {
  const parts = filled.flatMap((text) => partsOf(text) ?? []);
  if (parts.length === 0 || parts.some(({ digits }) => /^0\d/.test(digits))) return undefined;
  const count = (pattern: RegExp): number => parts.filter(({ digits }) => pattern.test(digits)).length;
  const [point, comma] = [count(POINT), count(COMMA)];
  const hasComma = comma > point || (comma === point && decimalComma);
  if (Math.max(point, comma) < filled.length * LEAST_SHARE) return undefined;
  const units = new Set(parts.map(({ unit }) => unit).filter((unit) => unit !== ''));
  if (units.size > 1) return undefined; // 5 kg and 3 lb have no sum
  const [pattern, decimal] = hasComma ? [COMMA, ','] : [POINT, '.'];
  const read = (text: string): number | undefined => {
    const number = partsOf(text);
    if (!number || !pattern.test(number.digits)) return undefined;
    const [whole = '', rest] = number.digits.split(decimal);
    const value = Number(whole.replace(/[^\d]/g, '') + (rest === undefined ? '' : `.${rest}`));
    return number.negative ? -value : value;
  };
  // An exponent without decimals has no part behind the mark.
  const whole = (text: string): number | undefined =>
    /^[-+]?\d+(?:\.\d+)?[eE][-+]?\d+$/.test(text) ? Number(text) : read(text);
  return { type: 'number', unit: [...units][0], read: whole };
}

/** A number with its sign and its unit before or after it; undefined for other texts. */
function partsOf(text: string): NumberParts | undefined {
  const match =
    /^(\()?\s*([-−+]?)\s*(\p{Sc}|[A-Z]{1,3}\p{Sc}?)?\s*([-−+]?)(\d[\d.,'’ \u00a0\u202f]*?(?:[eE][-+]?\d+)?)\s*([^\d\s().,'’+−-][^\d()]*)?(\))?$/u.exec(
      text,
    );
  if (!match) return undefined;
  const [, open, sign, before = '', inner, digits = '', after = '', close] = match;
  const unit = (before || after).trim();
  if (
    unit.length > MAX_UNIT ||
    (before !== '' && after !== '') ||
    (open === undefined) !== (close === undefined)
  )
    return undefined;
  return { digits, negative: open !== undefined || /[-−]/.test(`${sign}${inner}`), unit };
}

const DATE_FORMS: readonly { pattern: RegExp; order: 'ymd' | 'dmy' | 'mdy' }[] = [
  { pattern: /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})((?:[T ]\d{1,2}:\d{2}.*)?)$/, order: 'ymd' },
  { pattern: /^(\d{1,2})\.(\d{1,2})\.(\d{4})((?: \d{1,2}:\d{2}.*)?)$/, order: 'dmy' },
  { pattern: /^(\d{1,2})[-/](\d{1,2})[-/](\d{4})((?: \d{1,2}:\d{2}.*)?)$/, order: 'dmy' },
  { pattern: /^(\d{1,2})[-/](\d{1,2})[-/](\d{4})((?: \d{1,2}:\d{2}.*)?)$/, order: 'mdy' },
];

/** Dates of one form; undefined unless most of the texts are, or where day and month cannot be told apart. */
function datesOf(filled: readonly string[]): Reading | undefined {
  const fitting = DATE_FORMS.filter(({ pattern, order }) => {
    const dates = filled.filter((text) => isoOf(text, pattern, order) !== undefined);
    return filled.length > 0 && dates.length >= filled.length * LEAST_SHARE;
  });
  const [form, other] = fitting;
  if (!form || other) return undefined;
  return { type: 'date', read: (text) => isoOf(text, form.pattern, form.order) };
}

function isoOf(text: string, pattern: RegExp, order: 'ymd' | 'dmy' | 'mdy'): string | undefined {
  const [, a = '', b = '', c = '', time = ''] = pattern.exec(text) ?? [];
  const [year, month, day] = order === 'ymd' ? [a, b, c] : order === 'dmy' ? [c, b, a] : [c, a, b];
  if (!(Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31)) return undefined;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${time.replace('T', ' ')}`;
}
