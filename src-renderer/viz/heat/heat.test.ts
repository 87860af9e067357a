import { describe, expect, test } from 'vitest';
import {
  cellAt,
  columnAt,
  heatRowHeight,
  layoutHeat,
  stepCell,
  strongest,
  xOf,
  type Grid,
} from './layout.ts';

/** Two layers of six tokens. */
const GRID: Grid = { rows: 2, columns: 6, values: Float32Array.of(0, 1, 0, 5, 0, 0, 2, 0, 0, 0, 0, 9) };
const WHOLE = { start: 0, end: 6 };
const WIDTH = 342; // 300 pixels for the cells

describe('heat map', () => {
  test('from afar a pixel shows the strongest of its tokens', () => {
    expect([...strongest(GRID, WHOLE, 3)]).toEqual([1, 5, 0, 2, 0, 9]);
  });

  test('from close by a token takes several pixels', () => {
    expect([...strongest(GRID, { start: 3, end: 5 }, 4)].slice(0, 4)).toEqual([5, 5, 0, 0]);
  });

  test('cells are found where they are drawn, in any view', () => {
    for (const view of [WHOLE, { start: 2, end: 5 }]) {
      const layout = layoutHeat(2, WIDTH);
      const point = { x: xOf(4, view, layout) + 1, y: layout.plot.top + layout.rowHeight + 1 };
      expect(cellAt(point, GRID, view, WIDTH)).toEqual({ row: 1, column: 4 });
      expect(columnAt(point.x - 1, view, WIDTH)).toBeCloseTo(4);
    }
    expect(cellAt({ x: 3, y: 20 }, GRID, WHOLE, WIDTH)).toBeNull();
    expect(cellAt({ x: 100, y: 900 }, GRID, WHOLE, WIDTH)).toBeNull();
  });

  test('layers stay apart, however many', () => {
    expect([1, 28, 64, 128].map(heatRowHeight)).toEqual([16, 12, 5, 4]);
  });

  test.each([
    ['ArrowRight', { row: 0, column: 3 }],
    ['ArrowLeft', { row: 0, column: 1 }],
    ['ArrowDown', { row: 1, column: 2 }],
    ['ArrowUp', { row: 0, column: 2 }],
    ['Home', { row: 0, column: 0 }],
    ['End', { row: 0, column: 5 }],
    [']', { row: 0, column: 4 }],
    ['[', { row: 0, column: 0 }],
    ['x', undefined],
  ])('%s leads to %j', (key, cell) => {
    expect(stepCell(key, { row: 0, column: 2 }, GRID, [0, 4])).toEqual(cell);
  });
});
