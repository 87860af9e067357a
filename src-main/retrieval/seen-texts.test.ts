import { expect, test } from 'vitest';
import { SeenTexts } from './seen-texts.ts';

const RENT =
  'The tenant pays a rent of 1,200 euros on the first day of each month to the account of the owner.';

test.each<[string, string]>([
  [RENT, 'same'],
  [RENT.toUpperCase().replaceAll(' ', '\n'), 'same'],
  [RENT.replace('1,200', '1,300'), 'version'],
  [`${RENT} Heating included.`, 'version'],
  ['The tenant pays for heating, water and electricity beside the rent, by consumption.', 'new'],
  ['', 'new'],
])('%s: %s', (text, expected) => {
  const seen = new SeenTexts();
  expect(seen.add(RENT)).toBe('new');
  expect(seen.add(text)).toBe(expected);
});

test('Chinese texts are compared by their characters', () => {
  const seen = new SeenTexts();
  seen.add('承租人应于每月一日向出租人支付租金一千二百元整。');
  expect(seen.add('承租人应于每月一日向出租人支付租金一千三百元整。')).toBe('version');
  expect(seen.add('水电费由承租人按实际用量另行支付给物业公司。')).toBe('new');
});
