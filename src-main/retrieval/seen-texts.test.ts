import { expect, test } from 'vitest';
import { SeenTexts } from './seen-texts.ts';

const RENT =
  'The tenant pays a rent of 1,200 euros on the first day of each month to the account of the owner, who asks for it only once. ' +
  'Whoever pays late owes interest of five percent a year, counted from the second day of that month until the money has arrived.';

test.each<[string, string]>([
  [RENT, 'same'],
  [RENT.toUpperCase().replaceAll(' ', '\n'), 'same'],
  [RENT.replace('1,200', '1,400'), 'alike'],
  [`${RENT} Heating included.`, 'alike'],
  [`${RENT} The tenant also pays for heating, water and electricity, by consumption.`, 'new'],
  ['The tenant pays for heating, water and electricity beside the rent, by consumption.', 'new'],
  ['', 'new'],
])('%s: %s', (text, expected) => {
  const seen = new SeenTexts();
  expect([seen.add(RENT), seen.add(RENT.replace('1,200', '1,300'))]).toEqual(['new', 'new']);
  expect(seen.add(text)).toBe(expected);
});

test('Chinese texts are compared by their characters', () => {
  const seen = new SeenTexts();
  const rent = (amount: string): string =>
    `承租人应于每月一日向出租人支付租金${amount}千元整，以银行转账方式支付。`;
  expect([rent('一'), rent('二'), rent('三')].map((text) => seen.add(text))).toEqual(['new', 'new', 'alike']);
});
