import { describe, expect, test } from 'vitest';
import { layoutLegend } from './axes.ts';
import { layoutChart, nearestItem, type ChartSpec } from './chart/layout.ts';
import { GANTT_TOP, layoutGantt, rowAt, rowHeight, timeAt, waitOf, wholeView } from './gantt/layout.ts';
import { rampOf, type Palette } from './palette.ts';
import { stepTo } from './picture.ts';
import { panned, revealed, zoomed } from './span.ts';
import { layoutStages, waterfall } from './waterfall.ts';

const format = (value: number) => String(value);

describe('Gantt', () => {
  const layers = [
    { layer: 0, loadStart: 0, loadEnd: 10, computeStart: 10, computeEnd: 30 },
    { layer: 1, loadStart: 10, loadEnd: 20, computeStart: 30, computeEnd: 40 },
    { layer: 2, loadStart: 20, loadEnd: 60, computeStart: 60, computeEnd: 100 },
  ];
  const whole = wholeView(layers);

  test('a loaded layer waits from when computing is free until it begins; a gap of the threads is no wait', () => {
    expect(waitOf(layers, 0)).toEqual({ start: 0, end: 10 });
    expect(waitOf(layers, 1)).toBeNull();
    expect(waitOf(layers, 2)).toEqual({ start: 40, end: 60 });
    expect(waitOf([{ ...layers[0]!, computeStart: 0.1 }], 0)).toBeNull();
    expect(waitOf([{ ...layers[0]!, loadEnd: 0 }], 0)).toBeNull();
  });

  test('bars stand at their times', () => {
    const { bars, left, right } = layoutGantt(layers, whole, 1042, format);
    expect([left, right]).toEqual([34, 1034]);
    expect(bars.find(({ row, lane }) => row === 2 && lane === 'compute')).toEqual({ row: 2, lane: 'compute', x: 634, width: 400 }); // prettier-ignore
    expect(bars.filter(({ lane }) => lane === 'wait').map(({ row }) => row)).toEqual([0, 2]);
  });

  test('what is out of view is not drawn, what is shorter than a pixel is one pixel wide', () => {
    const { bars } = layoutGantt(layers, { start: 70, end: 90 }, 1042, format);
    expect(bars).toEqual([{ row: 2, lane: 'compute', x: 34, width: 1000 }]);
    const tiny = layoutGantt([{ ...layers[0]!, computeEnd: 10.0001 }], whole, 300, format).bars;
    expect(tiny.find(({ lane }) => lane === 'compute')?.width).toBe(1);
  });

  test('nothing loaded: no load and no wait', () => {
    const { bars } = layoutGantt([{ layer: 0, loadStart: 0, loadEnd: 0, computeStart: 1, computeEnd: 2 }], { start: 0, end: 2 }, 300, format); // prettier-ignore
    expect(bars.map(({ lane }) => lane)).toEqual(['compute']);
  });

  test('zooming keeps the time under the pointer, and stays within the whole', () => {
    const view = zoomed(whole, whole, 0.5, 25);
    expect(view).toEqual({ start: 12.5, end: 62.5 });
    expect((25 - view.start) / (view.end - view.start)).toBe(0.25);
    expect(zoomed(view, whole, 100, 25)).toEqual(whole);
    expect(zoomed(whole, whole, 1e-9, 50).end - zoomed(whole, whole, 1e-9, 50).start).toBeCloseTo(0.2);
  });

  test('panning ends at both ends', () => {
    expect(panned({ start: 10, end: 30 }, whole, -5)).toEqual({ start: 0, end: 20 });
    expect(panned({ start: 10, end: 30 }, whole, 5)).toEqual({ start: 80, end: 100 });
  });

  test('what lies outside is brought into view by as little as needed', () => {
    const view = { start: 10, end: 30 };
    expect(revealed(view, whole, 12, 13)).toBe(view);
    expect(revealed(view, whole, 4, 5)).toEqual({ start: 4, end: 24 });
    expect(revealed(view, whole, 40, 41)).toEqual({ start: 21, end: 41 });
  });

  test('rows and times are found again', () => {
    for (const count of [1, 28, 64, 128]) {
      expect(rowAt(GANTT_TOP + rowHeight(count) * (count - 0.5), count)).toBe(count - 1);
      expect(rowAt(GANTT_TOP + rowHeight(count) * count + 1, count)).toBeNull();
    }
    expect(timeAt(534, whole, 1042)).toBe(50);
  });

  test('no layers, no times', () => {
    expect(wholeView([])).toEqual({ start: 0, end: 1 });
    expect(layoutGantt([], { start: 0, end: 1 }, 300, format).bars).toEqual([]);
  });
});

describe('waterfall', () => {
  const stages = [10, 0, 30].map((ms) => ({ label: '', value: '', colour: 'load' as const, ms }));

  test('each stage begins where the one before it ended; none is invisible', () => {
    expect(layoutStages(stages, 100, 400)).toEqual([
      { x: 100, width: 100 },
      { x: 200, width: 1.5 },
      { x: 200, width: 300 },
    ]);
    expect(layoutStages([{ ms: 0 }], 0, 100)[0]?.width).toBe(1.5);
  });

  test('the stage at a height, one below the other', () => {
    const picture = waterfall(stages);
    const height = picture.height(400);
    const frame = { width: 400, height, palette: {} as Palette };
    expect([-1, 0, height / 3, height].map((y) => picture.hit({ x: 0, y }, frame))).toEqual([
      null,
      0,
      1,
      null,
    ]);
  });
});

describe('chart', () => {
  const spec: ChartSpec = {
    x: { label: '', format },
    y: { label: '', format },
    series: [{ label: 'a', colour: 'ram', kind: 'line', points: [{ x: 1, y: 3 }, { x: 9, y: 97 }] }], // prettier-ignore
    rules: [],
    dots: [],
    items: [1, 5, 9],
  };
  const size = { width: 458, height: 238 };

  test('data fills the plot, y upwards from 0, with round ends', () => {
    const { plot, x, y } = layoutChart(spec, size, 0);
    expect(plot).toEqual({ left: 46, top: 0, right: 446, bottom: 200 });
    expect(x(0)).toBe(46);
    expect(y(0)).toBe(200);
    expect(y(100)).toBe(0);
  });

  test('a logarithmic axis leaves out what it cannot show', () => {
    const log = { ...spec, y: { label: '', format, log: true }, series: [{ ...spec.series[0]!, points: [{ x: 1, y: 0 }, { x: 2, y: 0.5 }, { x: 3, y: 80 }] }] }; // prettier-ignore
    const { y, plot, yTicks } = layoutChart(log, size, 0);
    expect(y(0)).toBe(plot.bottom);
    expect(y(100)).toBeCloseTo(plot.top);
    expect(yTicks.map(({ label }) => Number(label))).toEqual(expect.arrayContaining([1, 10, 100]));
  });

  test('the nearest item, within the plot only', () => {
    const layout = layoutChart({ ...spec, x: { ...spec.x, domain: [1, 9] } }, size, 0);
    expect(nearestItem(spec, layout, { x: 46, y: 100 })).toBe(0);
    expect(nearestItem(spec, layout, { x: 260, y: 100 })).toBe(1);
    expect(nearestItem(spec, layout, { x: 446, y: 100 })).toBe(2);
    expect(nearestItem(spec, layout, { x: 20, y: 100 })).toBeNull();
    expect(nearestItem(spec, layout, { x: 246, y: 230 })).toBeNull();
  });

  test('all zero still has an axis', () => {
    const zero = { ...spec, series: [{ ...spec.series[0]!, points: [{ x: 0, y: 0 }] }] };
    expect(Number.isFinite(layoutChart(zero, size, 0).y(0))).toBe(true);
  });
});

test('a legend breaks lines between entries', () => {
  const places = layoutLegend(
    [{ label: 'aaaa' }, { label: 'bbbb' }, { label: 'cccc' }],
    170,
    (text) => text.length * 10,
  );
  expect(places).toEqual([{ x: 0, line: 0 }, { x: 78, line: 0 }, { x: 0, line: 1 }]); // prettier-ignore
});

test('arrow keys step through items and stop at the ends', () => {
  expect(stepTo('ArrowDown', null, 3)).toBe(0);
  expect(stepTo('ArrowUp', null, 3)).toBe(2);
  expect(stepTo('ArrowRight', 2, 3)).toBe(2);
  expect(stepTo('End', 0, 3)).toBe(2);
  expect(stepTo('a', 0, 3)).toBeUndefined();
  expect(stepTo('ArrowDown', null, 0)).toBeUndefined();
});

test('a ramp begins and ends with its stops', () => {
  const ramp = rampOf(['#000', '#888', '#fff'], 5);
  expect(ramp[0]).toBe('color-mix(in oklab, #888 0%, #000)');
  expect(ramp[2]).toBe('color-mix(in oklab, #fff 0%, #888)');
  expect(ramp[4]).toBe('color-mix(in oklab, #fff 100%, #888)');
});
