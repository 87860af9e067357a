/** A number from 1 on in Roman numerals. */
export function roman(number: number): string {
  const values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1];
  const signs = ['M', 'CM', 'D', 'CD', 'C', 'XC', 'L', 'XL', 'X', 'IX', 'V', 'IV', 'I'];
  let rest = number;
  let text = '';
  values.forEach((each, i) => {
    for (; rest >= each; rest -= each) text += signs[i] ?? '';
  });
  return text;
}
