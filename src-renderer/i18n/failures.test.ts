import { expect, test } from 'vitest';
import { failureWords, shownFailure } from './failures.ts';

const FULL = {
  code: 'DISK_FULL' as const,
  message: 'There is no room on /data.',
  advice: 'Free some space.',
};

test('English shows what the core says', () => {
  expect(failureWords(FULL, 'en')).toEqual({ message: FULL.message, advice: FULL.advice, detail: '' });
});

test('Chinese has words of its own by code, and keeps what the core says as the detail', () => {
  const words = failureWords(FULL, 'zh');
  expect(words.message).toMatch(/磁盘/);
  expect(words.advice).not.toBe('');
  expect(words.detail).toBe(FULL.message);
});

test('what has no code, or a code that says little, is shown as it came', () => {
  const plain = { message: 'Something else.', advice: '' };
  for (const failure of [plain, { ...plain, code: 'CONFLICT' as const }])
    expect(failureWords(failure, 'zh')).toEqual({ ...plain, detail: '' });
});

test('a failure that has travelled as plain data is shown as one', () => {
  const failure = { code: 'CACHE_FULL', message: 'The cache is full.', advice: 'Raise the budget.' } as const;
  expect(shownFailure(failure)).toEqual(failure);
  expect(shownFailure(new Error('x'))).toEqual({ message: 'x', advice: '' });
});
