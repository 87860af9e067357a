import { join } from 'node:path';
import { _electron, expect, test } from '@playwright/test';
import { ANSWER_MS, stripOf } from './support/chat.ts';
import { electronBinary } from './support/browsers.ts';
import { NO_MODELS, temporaryFolder } from './support/app.ts';
import { ROOT } from './support/root.ts';

/** Path of the packed app's executable; CI packs it first (`npm run dist -- --dir`), with the inspector that Playwright needs. */
const PACKED = process.env['KVASIR_PACKED'];

test('the desktop app opens its window, sandboxed, and answers a question', async () => {
  const executablePath = electronBinary();
  test.skip(
    executablePath === undefined,
    "Electron's binary is not installed here (its package fetches it at first run, from a host that may be out of reach).",
  );
  await opensAndAnswers({ executablePath, args: [join(ROOT, 'out', 'main', 'main.js')] });
});

test('so does the packed one, with all it loads inside its package', async () => {
  test.skip(PACKED === undefined, 'KVASIR_PACKED names no packed app.');
  const appPath = await opensAndAnswers({ executablePath: PACKED, args: [] });
  expect(appPath).toMatch(/app\.asar$/);
});

/** Location of the app's code. */
async function opensAndAnswers(launch: {
  executablePath: string | undefined;
  args: string[];
}): Promise<string> {
  const folder = temporaryFolder();
  const app = await _electron.launch({
    ...(launch.executablePath !== undefined && { executablePath: launch.executablePath }),
    args: launch.args,
    env: {
      ...(process.env as Record<string, string>),
      KVASIR_DATA: folder.path,
      KVASIR_MODELS_HOME: NO_MODELS,
    },
  });
  try {
    const window = await app.firstWindow();
    await expect(window.getByRole('navigation', { name: 'Main' })).toBeVisible();
    const seen = await window.evaluate(() => {
      const page = globalThis as { require?: unknown; kvasir?: object };
      return { require: typeof page.require, kvasir: Object.keys(page.kvasir ?? {}).sort() };
    });
    expect(seen).toEqual({ require: 'undefined', kvasir: ['call', 'onConnection', 'onEvent', 'pathOf'] });
    await window.getByRole('region', { name: 'Ask one of these' }).getByRole('button').first().click();
    await expect(stripOf(window)).toBeVisible({ timeout: ANSWER_MS });
    return await app.evaluate(({ app: own }) => own.getAppPath());
  } finally {
    await app.close();
    folder.remove();
  }
}
