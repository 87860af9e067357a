import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { answers, ANSWER_MS, documentsRead, stripOf } from './support/chat.ts';
import { documentsOf, libraryDone } from './support/library.ts';
import { runCommand } from './support/palette.ts';
import { call, expect, test } from './support/test.ts';

const QUESTION = 'Where does Project Polaris run, and who says so?';
const SCREENS = ['Library', 'Search', 'Analysis', 'Cache', 'Models', 'Settings', 'Chat'];

// The test changes them.
test.use({ settings: { language: 'en', theme: 'system' } });

test('from the first question to a library of one’s own without a mouse', async ({
  sharedWindow: window,
}) => {
  const keys = window.keyboard;
  await window.reload();

  await test.step('the question’s field has the focus, and Enter asks', async () => {
    await expect(window.getByRole('textbox', { name: 'Your question' })).toBeFocused();
    await documentsRead(window);
    await keys.type(QUESTION);
    await keys.press('Enter');
    await expect(stripOf(answers(window))).toBeVisible({ timeout: ANSWER_MS });
  });

  await test.step('the report opens and closes', async () => {
    const panel = window.getByRole('complementary', { name: 'Fusion report' });
    await keys.press('Control+.');
    await expect(panel).toBeVisible();
    await keys.press('Escape');
    await expect(panel).toBeHidden();
    await tabTo(window, (element) => /\d sources?$/.test(element.textContent));
    await keys.press('Enter');
    await tabTo(window, 'Details');
    await keys.press('Enter');
    await expect(panel).toBeVisible();
    await keys.press('Escape');
    await expect(panel).toBeHidden();
  });

  await test.step('Escape closes the menu of a report, and the report stays', async () => {
    await keys.press('Control+.');
    const panel = window.getByRole('complementary', { name: 'Fusion report' });
    await panel.getByRole('button', { name: 'Export', exact: true }).press('Enter');
    await expect(window.locator('[data-autofocus]:focus'), 'the menu listens').toHaveCount(1);
    await keys.press('Escape');
    await expect(window.getByRole('menuitem')).toHaveCount(0);
    await expect(panel).toBeVisible();
    await keys.press('Escape');
    await expect(panel).toBeHidden();
  });

  await test.step('a question is edited, and Escape leads back to where one writes', async () => {
    await window.getByRole('button', { name: 'Edit question' }).press('Enter');
    await expect(window.getByRole('textbox', { name: 'Edit your question' })).toBeFocused();
    await keys.press('Escape');
    await expect(window.getByRole('textbox', { name: 'Your question' })).toBeFocused();
  });

  for (const screen of SCREENS) {
    await test.step(`the palette leads to ${screen}`, async () => {
      await runCommand(window, `Go to ${screen}`);
      const link = window.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: screen });
      await expect(link).toHaveAttribute('aria-current', 'page');
      await expect.poll(() => focused(window), 'something has the focus').not.toBe('body');
      await expectVisibleFocus(window, 6);
    });
  }

  await test.step('keys lead around the list of conversations, to the question and to the list of keys', async () => {
    const list = window.getByRole('complementary', { name: 'Conversations' });
    const search = list.getByRole('textbox', { name: 'Search conversations' });
    await keys.press('Control+B');
    await expect(list).toBeHidden();
    await keys.press('Control+Shift+F');
    await expect(search).toBeFocused();
    const conversation = list.getByRole('link', { name: QUESTION });
    await conversation.focus();
    await keys.press('F2');
    await expect(list.getByRole('textbox', { name: 'New name' })).toBeFocused();
    await keys.press('Escape');
    await conversation.focus();
    await keys.press('Delete');
    await expect(conversation).toHaveCount(0);
    await window.getByRole('button', { name: 'Undo' }).press('Enter');
    await conversation.focus();
    await keys.press('Shift+?');
    await expect(window.getByRole('dialog')).toContainText('Ctrl');
    await keys.press('Escape');
    await conversation.focus();
    await keys.press('/');
    await expect(window.getByRole('textbox', { name: 'Your question' })).toBeFocused();
  });

  await test.step('the palette switches between light and dark, and the language', async () => {
    const html = window.locator('html');
    const light = await html.getAttribute('data-mantine-color-scheme');
    await runCommand(window, 'Switch between light and dark');
    await expect(html).not.toHaveAttribute('data-mantine-color-scheme', light ?? '');
    await runCommand(window, 'Switch the language');
    await expect(html).toHaveAttribute('lang', 'zh-CN');
    await call(window, 'settings.update', { language: 'en' });
    await expect(html).toHaveAttribute('lang', 'en');
  });

  await test.step('a library is made and filled', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder.path, 'docs'));
    writeFileSync(
      join(folder.path, 'docs', 'quay.md'),
      '# The quay\n\nThe quay is two hundred metres long.\n',
    );
    await runCommand(window, 'Go to Library');
    await runCommand(window, 'New library');
    await expect(window.getByRole('textbox', { name: 'Name' })).toBeFocused();
    await keys.type('By hand');
    await keys.press('Enter');
    await expect(documentsOf(window, 'By hand')).toBeVisible();
    await runCommand(window, 'Add by path');
    await expect(window.getByRole('dialog').getByRole('textbox')).toBeFocused();
    await keys.type(join(folder.path, 'docs'));
    await tabTo(window, 'Add');
    await keys.press('Enter');
    await libraryDone(window, 'By hand', 1);
    folder.remove();
  });

  await test.step('the table is walked, and a document opened, with the arrow keys', async () => {
    const row = documentsOf(window, 'By hand').getByRole('row').nth(1);
    await tabTo(window, (element) => element.getAttribute('role') === 'row');
    await expect(row).toBeFocused();
    await keys.press('Space');
    await expect(window.getByText('1 selected')).toBeVisible();
    await keys.press('Escape');
    await keys.press('Enter');
    await expect(window.getByRole('heading', { name: 'The quay', level: 1 })).toBeVisible();
  });
});

/** Presses Tab until the focus is on the element with this name, or on one that the function accepts. */
async function tabTo(window: Page, wanted: string | ((element: Element) => boolean)): Promise<void> {
  const test =
    typeof wanted === 'string'
      ? `(element) => element.textContent.trim() === ${JSON.stringify(wanted)}`
      : String(wanted);
  for (let presses = 0; presses < 80; presses++) {
    await window.keyboard.press('Tab');
    if (await window.evaluate(`(${test})(document.activeElement)`)) return;
  }
  throw new Error(`80 times Tab did not lead to ${String(wanted)}`);
}

function focused(window: Page): Promise<string> {
  return window.evaluate(() => document.activeElement?.tagName.toLowerCase() ?? 'body');
}

/** The next tab stops are visible, and look different while focused. */
async function expectVisibleFocus(window: Page, stops: number): Promise<void> {
  for (let stop = 0; stop < stops; stop++) {
    await window.keyboard.press('Tab');
    const seen = await window.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      // A loader spins forever, so its animation cannot be finished.
      const finishTransitions = (): void => {
        for (const animation of document.getAnimations())
          if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
      };
      // The browser's own controls follow the last tab stop.
      if (element === document.body) return { name: 'the end', differs: true, shown: true };
      const look = (): string =>
        [element, element.parentElement, element.parentElement?.parentElement, element.nextElementSibling]
          .map((each) => {
            if (!each) return '';
            const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } =
              getComputedStyle(each);
            return [outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor].join();
          })
          .join('\n');
      finishTransitions();
      const withFocus = look();
      element.blur();
      finishTransitions();
      const without = look();
      element.focus();
      const { width, height } = element.getBoundingClientRect();
      return {
        name: element.outerHTML.slice(0, 200),
        differs: withFocus !== without,
        shown: width * height > 0,
      };
    });
    expect(seen, seen.name).toMatchObject({ differs: true, shown: true });
  }
}
