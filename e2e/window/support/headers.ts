import type { Page } from '@playwright/test';

/** Font sizes of each table's column headers, where they differ: "12px 14px: Name, Size". Styles that load in another order change some. */
export function unevenHeaders(window: Page): Promise<string[]> {
  return window.evaluate(() =>
    [...document.querySelectorAll('table, [role=table], [role=grid]')].flatMap((table) => {
      const texts = [...table.querySelectorAll('th, [role=columnheader]')].flatMap((header) => {
        const walker = document.createTreeWalker(header, NodeFilter.SHOW_TEXT);
        const first = walker.nextNode();
        return first?.parentElement ? [{ text: first.textContent, element: first.parentElement }] : [];
      });
      const sizes = new Set(texts.map(({ element }) => getComputedStyle(element).fontSize));
      return sizes.size < 2 ? [] : [`${[...sizes].join(' ')}: ${texts.map(({ text }) => text).join(', ')}`];
    }),
  );
}
