import { describe, expect, it } from 'vitest';
import { fromSlider, SLIDER_STEPS, toSlider } from './log-scale.ts';

const scale = { min: 16, max: 8192 };

describe('log scale', () => {
  it('has its ends where they are said to be', () => {
    expect(toSlider(16, scale)).toBe(0);
    expect(toSlider(8192, scale)).toBe(SLIDER_STEPS);
    expect(fromSlider(0, scale)).toBe(16);
    expect(fromSlider(SLIDER_STEPS, scale)).toBe(8192);
  });

  it('gives equal ratios for equal ways', () => {
    const way = toSlider(128, scale) - toSlider(64, scale);
    expect(toSlider(2048, scale) - toSlider(1024, scale)).toBe(way);
  });

  it('keeps outsiders at the ends, and a scale without room at its end', () => {
    expect(toSlider(1, scale)).toBe(0);
    expect(toSlider(1e9, scale)).toBe(SLIDER_STEPS);
    expect(toSlider(5, { min: 5, max: 5 })).toBe(SLIDER_STEPS);
  });

  it('comes back within a rounding of two digits', () => {
    for (let value = 20; value < 8192; value = Math.ceil(value * 1.3)) {
      const back = fromSlider(toSlider(value, scale), scale);
      expect(Math.abs(back - value) / value).toBeLessThan(0.06);
      expect(Number(back.toPrecision(2))).toBe(back);
    }
  });
});
