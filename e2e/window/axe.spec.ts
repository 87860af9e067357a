import type { Page } from '@playwright/test';
import { ask, QUESTION, startConversation } from './support/chat.ts';
import { violationsIn } from './support/axe.ts';
import { unevenHeaders } from './support/headers.ts';
import { PLACES, route } from './support/screens.ts';
import { expect, test } from './support/test.ts';

/** All that depends on colours, so all that can break in one theme and not in the other. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

test('axe finds nothing serious on any screen, light or dark, and headers of a table look alike', async ({
  sharedWindow: window,
}) => {
  test.slow();
  await window.emulateMedia({ reducedMotion: 'reduce' });
  await startConversation(window);
  await ask(window, QUESTION);
  await test.step('a theme is chosen', async () => {
    await route(window, '/settings');
    for (const [name, theme] of [
      ['Dark', 'dark'],
      ['Light', 'light'],
      ['Match system', 'light'],
    ] as const) {
      await window.getByRole('radiogroup', { name: 'Theme' }).getByText(name).click();
      await expectTheme(window, theme);
    }
  });
  let theme: 'light' | 'dark' = 'light';
  for (const { name, open } of PLACES) {
    await test.step(name, async () => {
      await open(window);
      expect.soft(await violationsIn(window), name).toEqual([]);
      expect.soft(await unevenHeaders(window), name).toEqual([]);
      // The next screen is opened in this theme: to change it once for each is enough.
      theme = theme === 'light' ? 'dark' : 'light';
      await window.emulateMedia({ colorScheme: theme });
      await expectTheme(window, theme);
      expect.soft(await violationsIn(window, { rules: COLOURS }), `${name}, ${theme}`).toEqual([]);
      await window.keyboard.press('Escape');
    });
  }
});

async function expectTheme(window: Page, theme: 'light' | 'dark'): Promise<void> {
  await expect(window.locator('html')).toHaveAttribute('data-mantine-color-scheme', theme);
}
