import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import type Axe from 'axe-core';
import type { RunOptions } from 'axe-core';

declare const axe: typeof Axe;

const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Accessibility violations that axe finds in a window, by these rules; default: all. A page gets its script once. It does not run in frames:
 * those of documents have scripts off, and it would never end there.
 */
export async function violationsIn(
  window: Page,
  { rules, impacts = ['serious', 'critical'] }: { rules?: string[] | undefined; impacts?: string[] } = {},
): Promise<string[]> {
  if (!(await window.evaluate(() => 'axe' in globalThis))) await window.evaluate(SOURCE);
  const options: RunOptions = {
    iframes: false,
    resultTypes: ['violations'],
    ...(rules && { runOnly: rules }),
  };
  return window.evaluate(
    async ([run, looked]) => {
      // A transition has its first colour until the next frame, however short it is. A loader's animation has no end.
      for (const animation of document.getAnimations())
        if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
      const { violations } = await axe.run(document, run);
      return violations
        .filter(({ impact }) => looked.includes(impact ?? ''))
        .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`));
    },
    [options, impacts] as const,
  );
}
