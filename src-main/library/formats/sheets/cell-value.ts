import { SSF } from '@e965/xlsx';

/** SheetJS's number formatting, which its types leave open. */
const {
  format: formatNumber,
  is_date: isDate,
  parse_date_code: partsOf,
  get_table: builtInFormats,
} = SSF as {
  format: (format: string, value: number, options?: { date1904: boolean }) => string;
  is_date: (format: string) => boolean;
  /** Null outside the years that Excel knows. */
  parse_date_code: (value: number, options: { date1904: boolean }) => DateParts | null;
  get_table: () => Readonly<Record<number, string | undefined>>;
};

/** What date formats are built in for East Asian locales (ECMA-376 part 1, 18.8.30); SheetJS has the others. */
const BUILT_IN_DATES = new Set([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]);
const BUILT_IN_TIMES = new Set([32, 33, 34, 35, 55, 56]);

/** Excel allows 255. */
const MAX_FORMAT_UNITS = 1000;

/** The format with a built-in number. */
export function builtInFormat(id: number): string {
  if (BUILT_IN_DATES.has(id)) return 'yyyy-mm-dd';
  if (BUILT_IN_TIMES.has(id)) return 'h:mm:ss';
  return builtInFormats()[id] ?? CURRENCIES[id] ?? 'General';
}

const CURRENCIES: Readonly<Record<number, string>> = {
  5: '"$"#,##0_);\\("$"#,##0\\)',
  6: '"$"#,##0_);\\("$"#,##0\\)',
  7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
  8: '"$"#,##0.00_);\\("$"#,##0.00\\)',
  41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
};

/** A number as its cell shows it; dates as 2026-03-19, times as 07:30, and numbers without a format with all their digits. */
export function shownNumber(value: number, format: string, date1904: boolean): string {
  try {
    if (format === '' || format.length > MAX_FORMAT_UNITS || /^general$/i.test(format))
      return plainNumber(value);
    if (!isDate(format)) return formatNumber(format, value).trim();
    if (/\[[hms]+\]/i.test(format)) return formatNumber(format, value, { date1904 }).trim();
    return shownDate(value, format, date1904);
  } catch {
    return plainNumber(value);
  }
}

/** Without the noise of binary fractions: programs show 15 digits. */
function plainNumber(value: number): string {
  return String(Number.isFinite(value) ? Number(value.toPrecision(15)) : value);
}

interface DateParts {
  y: number;
  m: number;
  d: number;
  H: number;
  M: number;
  S: number;
}

function shownDate(value: number, format: string, date1904: boolean): string {
  const parts = partsOf(value, { date1904 });
  if (parts === null) return plainNumber(value);
  const letters = format.replace(/"[^"]*"|\\.|_.|\[[^\]]*\]/g, '').toLowerCase();
  const time = letters.includes('h') ? timeOf(parts, letters.includes('s')) : '';
  const date = dateOf(parts, letters.replace(/am\/pm|a\/p/g, ''));
  // A month without a year, or minutes without an hour, are shown as they are written.
  return [date, time].filter(Boolean).join(' ') || formatNumber(format, value, { date1904 }).trim();
}

/** '' when the format shows no date with its year. */
function dateOf({ y, m, d }: DateParts, letters: string): string {
  if (!/[ye]/.test(letters)) return '';
  const year = String(y).padStart(4, '0');
  const month = /m/.test(letters) ? `-${two(m)}` : '';
  return /d/.test(letters) ? `${year}-${two(m)}-${two(d)}` : `${year}${month}`;
}

function timeOf({ H, M, S }: DateParts, withSeconds: boolean): string {
  return [H, M, ...(withSeconds ? [S] : [])].map(two).join(':');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
