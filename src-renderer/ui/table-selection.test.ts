import { describe, expect, it } from 'vitest';
import { gestureOf, movedTo, toggled } from './table-selection.ts';

const keys = { shiftKey: false, ctrlKey: false, metaKey: false };

describe('selection of rows', () => {
  it('takes clicks as a file manager does', () => {
    expect(gestureOf(keys)).toBe('replace');
    expect(gestureOf({ ...keys, ctrlKey: true })).toBe('toggle');
    expect(gestureOf({ ...keys, metaKey: true })).toBe('toggle');
    expect(gestureOf({ ...keys, ctrlKey: true, shiftKey: true })).toBe('extend');
  });

  it('toggles without touching the set it was given', () => {
    const before = new Set(['a']);
    expect([...toggled(before, 'b')]).toEqual(['a', 'b']);
    expect([...toggled(before, 'a')]).toEqual([]);
    expect([...before]).toEqual(['a']);
  });
});

describe('movedTo', () => {
  it('moves by row, page and to the ends, and stays inside', () => {
    expect(movedTo('ArrowDown', 3, 10, 4)).toBe(4);
    expect(movedTo('ArrowUp', 0, 10, 4)).toBe(0);
    expect(movedTo('PageDown', 8, 10, 4)).toBe(9);
    expect(movedTo('PageUp', 8, 10, 4)).toBe(4);
    expect(movedTo('End', 0, 50_000, 20)).toBe(49_999);
    expect(movedTo('Home', 7, 10, 4)).toBe(0);
  });

  it('leaves other keys and empty tables alone', () => {
    expect(movedTo('x', 3, 10, 4)).toBeUndefined();
    expect(movedTo('ArrowDown', 0, 0, 4)).toBeUndefined();
  });
});
