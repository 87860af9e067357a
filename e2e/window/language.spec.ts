import type { Page } from '@playwright/test';
import { en } from '../../src-renderer/i18n/words.ts';
import { zh } from '../../src-renderer/i18n/zh/index.ts';
import { ask, QUESTION, startConversation } from './support/chat.ts';
import { openSettings, PLACES } from './support/screens.ts';
import { expect, goTo, test } from './support/test.ts';

type Words = { readonly [key: string]: string | Words };

test('in Chinese, no English word of the interface is left on any screen', async ({
  sharedWindow: window,
}) => {
  test.slow();
  await startConversation(window);
  await ask(window, QUESTION);
  await goTo(window, 'Settings');
  await window.getByRole('radiogroup', { name: 'Language' }).getByText('中文').click();
  await expect(window.locator('html')).toHaveAttribute('lang', 'zh-CN');

  try {
    await expectChinese(window);
  } finally {
    await backToEnglish(window);
  }
});

test.describe('a setting that this machine cannot use', () => {
  test.use({ settings: { language: 'zh', threads: 1024 } });

  test('is told in Chinese from the start on', async ({ app, context }) => {
    const window = await context.newPage();
    await window.goto(app.url);
    const notice = window.getByRole('alert').filter({ hasText: '1024' });
    await expect(notice).toContainText(zh.common.notice);
    await expect(notice).toContainText(zh.settings.engine.threads);
    expect((await notice.innerText()).replace('CPU', '')).not.toMatch(/[a-z]/i);
  });
});

async function expectChinese(window: Page): Promise<void> {
  const english = leftovers();
  for (const { name, open } of PLACES) {
    await test.step(name, async () => {
      await open(window);
      const shown = (await visibleStrings(window)).filter((text) => !DATA.has(text));
      expect(shown.join(''), 'something is said in Chinese').toMatch(/\p{Script=Han}/u);
      const left = shown.flatMap((text) => {
        const pattern = english.find((each) => each.test(text));
        return pattern ? [`${text} (${pattern.source})`] : [];
      });
      expect.soft(left, name).toEqual([]);
      await window.keyboard.press('Escape');
    });
  }
}

/** Restores the language, because other tests share the window. */
async function backToEnglish(window: Page): Promise<void> {
  await openSettings(window, 'appearance');
  await window.getByRole('radiogroup').getByText('English').click();
  await expect(window.locator('html')).toHaveAttribute('lang', 'en');
}

/** Forbidden texts: every English text that differs in Chinese, with wildcards for placeholders. */
function leftovers(): RegExp[] {
  const pairs = [...leaves(en, zh)];
  const chinese = new Set(pairs.map(([, text]) => text));
  return pairs
    .map(([text]) => text)
    .filter((text) => !chinese.has(text) && /[a-z]{3}/i.test(literal(text)))
    .map((text) => {
      const parts = text.split(FILLED).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
      return new RegExp(`^${parts.join('[^\\p{Script=Han}]+')}$`, 'u');
    });
}

const FILLED = /\{\{.*?\}\}/;

/** Names that users may have entered. */
const DATA = new Set(['Sample library']);

function literal(text: string): string {
  return text.split(FILLED).join('');
}

function* leaves(english: Words, chinese: Words): Generator<[string, string]> {
  for (const [key, value] of Object.entries(english)) {
    const other = chinese[key] ?? chinese[key.replace(/_one$/, '_other')]; // Chinese has no singular
    if (typeof value === 'string' && typeof other === 'string') yield [value, other];
    else if (typeof value === 'object' && typeof other === 'object') yield* leaves(value, other);
  }
}

/** All text that is visible or read aloud: text nodes and naming attributes. */
function visibleStrings(window: Page): Promise<string[]> {
  return window.evaluate(() => {
    const found: string[] = [];
    for (const element of document.querySelectorAll('body *')) {
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-valuetext']) {
        found.push(element.getAttribute(name) ?? '');
      }
      for (const child of element.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) found.push(child.textContent ?? '');
      }
      if (element instanceof HTMLInputElement && element.type !== 'search') found.push(element.value);
    }
    return found.map((text) => text.trim()).filter((text) => text !== '');
  });
}
