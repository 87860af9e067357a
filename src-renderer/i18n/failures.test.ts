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

test('Chinese leaves out what the core says where its own words say all of it', () => {
  const lost = { code: 'CONNECTION_LOST' as const, message: 'The connection was lost.', advice: 'Wait.' };
  expect(failureWords(lost, 'zh')).toMatchObject({
    message: expect.stringMatching(/连接/) as string,
    detail: '',
  });
  expect(failureWords(lost, 'en').message).toBe(lost.message);
});

test('Chinese names what a failure is about by the values that travel with it', () => {
  const adjusted = {
    code: 'SETTING_ADJUSTED' as const,
    message: 'threads was 1024.',
    advice: 'Choose another value.',
    values: { setting: 'threads', asked: '1024', used: '2' },
  };
  const { message, advice, detail } = failureWords(adjusted, 'zh');
  expect(message).toBe('设置“CPU 线程数”的值 1024 在本机上无法使用，已改用 2。');
  expect(advice + detail).not.toMatch(/[a-z]/i);
  const unnamed = { ...adjusted, values: { ...adjusted.values, setting: 'later' } };
  expect(failureWords(unnamed, 'zh').message).toContain('“later”');
  expect(failureWords(adjusted, 'en').message).toBe(adjusted.message);
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
