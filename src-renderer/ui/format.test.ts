import { expect, test } from 'vitest';
import { formatAgo, formatDuration } from './format.ts';

test('durations and ages are set as the window’s own words are, in both languages', () => {
  expect(formatDuration(85, 'en')).toBe('85 ms');
  expect(formatDuration(200_000, 'en')).toBe('3 min 20 sec');
  expect(formatDuration(85, 'zh')).toBe('85 毫秒');
  expect(formatDuration(200_000, 'zh')).toBe('3 分钟 20 秒');
  expect(formatAgo(0, 'en', 120_000)).toBe('2 minutes ago');
  expect(formatAgo(0, 'zh', 120_000)).toBe('2 分钟前');
});
