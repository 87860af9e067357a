/** Rows that are asked for at a time. */
export const PAGE_ROWS = 200;

/**
 * Two neighbouring pages that cover what is shown and about half a page around it, so that scrolling on finds its rows
 * there. Told apart by parity: a page keeps its place while the other one changes.
 */
export function pagesAround(
  first: number,
  last: number,
  pageSize: number = PAGE_ROWS,
): { even: number; odd: number } {
  const lower = Math.max(0, Math.floor((first + last) / 2 / pageSize - 0.5));
  return lower % 2 === 0 ? { even: lower, odd: lower + 1 } : { even: lower + 1, odd: lower };
}

/** Windows of at most `most` rows that make up [first, last]. */
export function windowsOf(first: number, last: number, most: number): { offset: number; limit: number }[] {
  const windows = [];
  for (let offset = first; offset <= last; offset += most) {
    windows.push({ offset, limit: Math.min(most, last + 1 - offset) });
  }
  return windows;
}
