import { expect, test } from 'vitest';
import { mentionAt, withoutMention } from './mention.ts';

const typed = (text: string) => mentionAt(text, text.length);

test('a name begins with an @ at the beginning of a word', () => {
  expect(typed('@')).toEqual({ start: 0, query: '' });
  expect(typed('What says @zebra ba')).toEqual({ start: 10, query: 'zebra ba' });
  expect(typed('（@合同')).toEqual({ start: 1, query: '合同' });
  expect(mentionAt('@zebra costs', 6)).toEqual({ start: 0, query: 'zebra' });
});

test('addresses, a lone @ and other lines are no names', () => {
  expect(typed('write to me@example.org')).toBeUndefined();
  expect(typed('5 @ 3')).toBeUndefined();
  expect(typed('@a\nb')).toBeUndefined();
  expect(typed(`@${'x'.repeat(41)}`)).toBeUndefined();
  expect(typed('')).toBeUndefined();
});

test('the name leaves the question when it has been chosen', () => {
  expect(withoutMention('What says @ze about rent?', { start: 10, query: 'ze' })).toBe(
    'What says about rent?',
  );
  expect(withoutMention('@ze cost?', { start: 0, query: 'ze' })).toBe('cost?');
  expect(withoutMention('（@ze）', { start: 1, query: 'ze' })).toBe('（）');
});
