export const INTEGER = String.raw`0|-?[1-9]\d{0,15}`;
/**
 * Each number in one way only, and with so few digits that no other has its double: so that what a schema excludes is excluded in every
 * notation. Not followed by anything.
 */
export const DECIMAL = String.raw`${INTEGER}|-?(?=[0-9.]{3,16}$)(?:0|[1-9]\d*)\.\d*[1-9]`;
export const NUMBER = String.raw`${DECIMAL}|-?[1-9](?:\.\d{0,13}[1-9])?e-(?:[7-9]|[1-9]\d|[12]\d\d)`;
/** Short enough that no two of them are the same double: what is below a bound as text is so as a number. */
export const EXACT = '-?[0-9.]{1,16}';
/** More digits than a number may have. */
const MOST_DIGITS = 16;

/**
 * Unsigned decimals of at least `bound`, or above it; undefined if none of them can be written. Decimals are compared digit by digit.
 * @param bound 0 or above
 */
export function atLeast(bound: number, above: boolean): string | undefined {
  const [whole, fraction] = digitsOf(bound);
  if (whole.length > MOST_DIGITS) return undefined;
  const rest = String.raw`(?:\.\d+)?`;
  return [
    String.raw`[1-9]\d{${whole.length},}${rest}`,
    ...larger(whole).map(([head, left]) => String.raw`${head}\d{${left}}${rest}`),
    ...larger(fraction).map(([head]) => String.raw`${whole}\.${head}\d*`),
    above
      ? String.raw`${whole}\.${fraction}0*[1-9]\d*`
      : fraction === ''
        ? whole + rest
        : String.raw`${whole}\.${fraction}\d*`,
  ].join('|');
}

/** Patterns of what makes digits larger, up to the digit that does, and how many digits are left after it. */
function larger(digits: string): [head: string, left: number][] {
  return Array.from(digits, (digit, i): [string, number][] => {
    const head = `${digits.slice(0, i)}[${Number(digit) + 1}-9]`;
    return digit === '9' ? [] : [[head, digits.length - i - 1]];
  }).flat();
}

/** The digits before and after the point, without an exponent. */
export function digitsOf(bound: number): [string, string] {
  const [mantissa = '', exponent = '0'] = String(bound).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const power = Number(exponent);
  const digits = '0'.repeat(Math.max(0, -power)) + whole + fraction + '0'.repeat(Math.max(0, power));
  const point = whole.length + Math.max(0, power);
  return [digits.slice(0, point).replace(/^0+(?=\d)/, ''), digits.slice(point).replace(/0+$/, '')];
}
