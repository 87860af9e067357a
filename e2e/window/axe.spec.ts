import { ask, QUESTION, startConversation } from './support/chat.ts';
import { violationsIn } from './support/axe.ts';
import { PLACES, route } from './support/screens.ts';
import { expect, test } from './support/test.ts';

test.use({ contextOptions: { reducedMotion: 'reduce' } });

/** All that depends on colours, so all that the second theme can break. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

for (const { theme, rules } of [{ theme: 'Light' }, { theme: 'Dark', rules: COLOURS }]) {
  test(`axe finds nothing serious on any screen: ${theme.toLowerCase()}`, async ({
    sharedWindow: window,
  }) => {
    test.slow();
    await startConversation(window);
    await ask(window, QUESTION);
    await route(window, '/settings');
    await window.getByRole('radiogroup', { name: 'Theme' }).getByText(theme).click();
    await expect(window.locator('html')).toHaveAttribute('data-mantine-color-scheme', theme.toLowerCase());
    for (const { name, open } of PLACES) {
      await test.step(name, async () => {
        await open(window);
        expect.soft(await violationsIn(window, rules), name).toEqual([]);
        await window.keyboard.press('Escape');
      });
    }
  });
}
