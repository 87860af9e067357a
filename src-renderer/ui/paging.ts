/** Rows per request. */
export const PAGE_ROWS = 200;

/**
 * Two neighbouring pages that cover the visible rows and about half a page around them, so that rows are ready when
 * scrolling on. Identified by parity: a page stays in place while the other one changes.
 */
export function pagesAround(
  first: number,
  last: number,
  pageSize: number = PAGE_ROWS,
): { even: number; odd: number } {
  const lower = Math.max(0, Math.floor((first + last) / 2 / pageSize - 0.5));
  return lower % 2 === 0 ? { even: lower, odd: lower + 1 } : { even: lower + 1, odd: lower };
}

/** Windows of at most `most` rows that cover [first, last]. */
export function windowsOf(first: number, last: number, most: number): { offset: number; limit: number }[] {
  const windows = [];
  for (let offset = first; offset <= last; offset += most) {
    windows.push({ offset, limit: Math.min(most, last + 1 - offset) });
  }
  return windows;
}
