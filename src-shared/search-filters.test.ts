import { describe, expect, test } from 'vitest';
import { parseFilters, withoutFilters } from './search-filters.ts';

const day = (year: number, month = 1, date = 1): number => new Date(year, month - 1, date).getTime();

describe('filters in a question', () => {
  test.each([
    ['in:Contracts rent', 'rent', { folders: ['contracts'] }],
    ['rent in:"Old Contracts/2024/" due', 'rent due', { folders: ['old contracts/2024'] }],
    ['in:a in:b rent', 'rent', { folders: ['a', 'b'] }],
    ['rent kind:PDF', 'rent', { kinds: ['pdf'] }],
    ['rent kind:.eml kind:slides', 'rent', { kinds: ['eml', 'ppt', 'pptx', 'pptm', 'odp'] }],
    ['after:2024 before:2024-03-05 rent', 'rent', { afterMs: day(2024), beforeMs: day(2024, 3, 5) }],
    ['after:2023 after:2024-02 rent', 'rent', { afterMs: day(2024, 2) }],
    ['When is rent due?\nin:b And heating?', 'When is rent due?\n And heating?', { folders: ['b'] }],
    ['in:contracts', '', { folders: ['contracts'] }],
  ])('%j', (question, text, filters) => {
    const none = { folders: [], kinds: [], afterMs: null, beforeMs: null };
    expect(parseFilters(question)).toEqual({ text, filters: { ...none, ...filters } });
  });

  test.each([
    'What is in: the box?',
    'author:ada',
    'kind:"a lot of" rent',
    'after:Monday',
    'after:2024-13',
    'before:2023-02-30',
    'plugin:x and within:y',
    'in:/',
    '',
  ])('%j has none', (question) => {
    expect(parseFilters(question)).toEqual({ text: question, filters: null });
  });

  test('are not for the model, unless there is nothing else', () => {
    expect(withoutFilters('kind:pdf When is rent due?')).toBe('When is rent due?');
    expect(withoutFilters('kind:pdf')).toBe('kind:pdf');
  });
});
