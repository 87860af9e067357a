import type { WebSocketRoute } from '@playwright/test';
import type { CacheStats } from '../../src-shared/contract/cache.ts';
import { startApp } from './support/app.ts';
import { ask, QUESTION, startConversation } from './support/chat.ts';
import { createLibrary } from './support/library.ts';
import { changingReplies } from './support/replies.ts';
import { expect, goTo, homeOf, openWindow, test } from './support/test.ts';

test('two windows of one app show the same', async ({ sharedApp, sharedWindow: first, context }) => {
  const second = await openWindow(sharedApp, context);
  await startConversation(first);
  await ask(first, QUESTION);
  const lists = [first, second].map((window) => window.getByRole('complementary', { name: 'Conversations' }));
  const [own, other] = lists as [(typeof lists)[0], (typeof lists)[0]];
  await expect(other.getByRole('link', { name: QUESTION }).first()).toBeVisible();

  await test.step('a conversation renamed in one is renamed in the other', async () => {
    await own
      .getByRole('button', { name: `Actions for “${QUESTION}”` })
      .first()
      .click();
    await first.getByRole('menuitem', { name: 'Rename' }).click();
    await own.getByRole('textbox', { name: 'New name' }).fill('Seen in both');
    await first.keyboard.press('Enter');
    await expect(other.getByText('Seen in both', { exact: true })).toBeVisible();
  });

  await test.step('a library made in one is in the other', async () => {
    await goTo(second, 'Library');
    await createLibrary(first, 'Made next door');
    await expect(second.getByRole('link', { name: /^Made next door/ })).toBeVisible();
  });

  await test.step('the language chosen in one is spoken in the other', async () => {
    await goTo(first, 'Settings');
    await first.getByRole('radiogroup', { name: 'Language' }).getByText('中文').click();
    await expect(second.getByRole('heading', { name: '资料库', level: 1 })).toBeVisible();
    await second.goto(`${homeOf(second)}#/settings`);
    await second.getByRole('radiogroup', { name: '语言' }).getByText('English').click();
    await expect(first.getByRole('heading', { name: 'Settings', level: 1 })).toBeVisible();
  });
});

test('a window that loses its connection, or fails to show a screen, is used again', async ({
  sharedWindow,
}) => {
  const context = sharedWindow.context();
  const window = await context.newPage();
  const sockets: WebSocketRoute[] = [];
  await window.routeWebSocket(/\/socket$/, (socket) => {
    sockets.push(socket);
    socket.connectToServer();
  });
  await window.goto(homeOf(sharedWindow));
  await expect.poll(() => sockets.length).toBe(1);
  await goTo(window, 'Cache');
  await sockets[0]?.close();
  await expect.poll(() => sockets.length).toBeGreaterThan(1);
  await goTo(window, 'Library');
  await expect(window.getByRole('link', { name: /^Sample library/ })).toBeVisible();
  await window.close();

  const other = await context.newPage();
  let isBroken = true;
  await changingReplies<CacheStats>(other, 'cache.stats', (stats) => {
    const { prefixes: _, ...incomplete } = stats;
    return isBroken ? (incomplete as CacheStats) : stats;
  });
  await other.goto(homeOf(sharedWindow));
  await goTo(other, 'Cache');
  await expect(other.getByText('Something went wrong in this part of the window')).toBeVisible();
  isBroken = false;
  await other.getByRole('button', { name: 'Reload the window' }).click();
  await expect(other.getByRole('textbox', { name: 'Budget on disk' })).toBeVisible();
});

test('a second app on the same data shows the same, and the first goes on without it', async ({
  sharedApp,
  sharedWindow,
  context,
}) => {
  const second = await startApp(sharedApp.dataDir);
  const window = await openWindow(second, context);
  await startConversation(sharedWindow);
  await ask(sharedWindow, QUESTION);
  await expect(
    window
      .getByRole('complementary', { name: 'Conversations' })
      .getByRole('link', { name: QUESTION })
      .first(),
  ).toBeVisible();
  await window.close();
  await second.stop();
  await startConversation(sharedWindow);
  await ask(sharedWindow, QUESTION);
});
