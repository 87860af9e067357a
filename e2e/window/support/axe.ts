import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/**
 * Accessibility violations that axe finds in a window, by these rules; default: all. axe runs a script in every frame, which never ends in
 * those of documents, where scripts are off: they are taken out.
 */
export async function violationsIn(window: Page, rules?: string[]): Promise<string[]> {
  await window.evaluate(() => document.querySelectorAll('iframe').forEach((frame) => frame.remove()));
  const axe = new AxeBuilder({ page: window }).setLegacyMode();
  if (rules) axe.withRules(rules);
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`));
}
