import { join } from 'node:path';
import { _electron, expect, test } from '@playwright/test';
import { ANSWER_MS, stripOf } from './support/chat.ts';
import { electronBinary } from './support/browsers.ts';
import { NO_MODELS, temporaryFolder } from './support/app.ts';
import { ROOT } from './support/root.ts';

test('the desktop app opens its window, sandboxed, and answers a question', async () => {
  const executablePath = electronBinary();
  test.skip(
    executablePath === undefined,
    "Electron's binary is not installed here (its package fetches it at first run, from a host that may be out of reach).",
  );
  const folder = temporaryFolder();
  const app = await _electron.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: [join(ROOT, 'out', 'main', 'main.js')],
    env: {
      ...(process.env as Record<string, string>),
      KVASIR_DATA: folder.path,
      KVASIR_MODELS_HOME: NO_MODELS,
    },
  });
  try {
    const window = await app.firstWindow();
    await expect(window.getByRole('navigation', { name: 'Main' })).toBeVisible();
    expect(await window.evaluate(() => typeof (globalThis as { require?: unknown }).require)).toBe(
      'undefined',
    );
    await window.getByRole('region', { name: 'Ask one of these' }).getByRole('button').first().click();
    await expect(stripOf(window)).toBeVisible({ timeout: ANSWER_MS });
  } finally {
    await app.close();
    folder.remove();
  }
});
