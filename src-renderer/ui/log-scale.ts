/** A logarithmic slider: equal distances mean equal ratios. */
export interface LogScale {
  min: number;
  max: number;
}

export const SLIDER_STEPS = 1000;

/** Position of a value on the slider, 0 to SLIDER_STEPS. */
export function toSlider(value: number, { min, max }: LogScale): number {
  if (max <= min) return SLIDER_STEPS;
  const inside = Math.min(max, Math.max(min, value));
  return Math.round((Math.log(inside / min) / Math.log(max / min)) * SLIDER_STEPS);
}

/** The value at a slider position, rounded to two digits for readability; the ends are exact. */
export function fromSlider(position: number, { min, max }: LogScale): number {
  if (position <= 0) return min;
  if (position >= SLIDER_STEPS) return max;
  const value = min * (max / min) ** (position / SLIDER_STEPS);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.min(max, Math.max(min, Math.round(value / unit) * unit));
}
