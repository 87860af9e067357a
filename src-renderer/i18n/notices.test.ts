import { expect, test } from 'vitest';
import { noticeWords } from './notices.ts';

const LEFT_OUT = { kind: 'left-out' as const, message: 'Left out: a.md (part 2).' };

test('English shows what the core says', () => {
  expect(noticeWords(LEFT_OUT, 'en')).toEqual({ message: LEFT_OUT.message, detail: '' });
});

test('Chinese has words of its own by kind, and keeps what the core says as the detail', () => {
  expect(noticeWords(LEFT_OUT, 'zh').message).toMatch(/放不下/);
  expect(noticeWords(LEFT_OUT, 'zh').detail).toBe(LEFT_OUT.message);
});
