import type { PageLines } from '../../../../../src-shared/contract/libraries.ts';

/** Puts elements `mark` over lines of a page that fills `root`; returns the first. */
export function markLines(root: HTMLElement, lines: PageLines['lines']): HTMLElement | undefined {
  const marks = lines.map((line) => {
    const mark = document.createElement('mark');
    Object.assign(mark.style, { position: 'absolute', ...placeOf(line) });
    return mark;
  });
  root.append(...marks);
  return marks[0];
}

/** Place and size of a line, as CSS. */
export function placeOf([left, top, right, bottom]: PageLines['lines'][number]) {
  const percent = (share: number): string => `${share * 100}%`;
  return {
    left: percent(left),
    top: percent(top),
    width: percent(right - left),
    height: percent(bottom - top),
  };
}
