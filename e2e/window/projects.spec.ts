import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import type { OutputOf } from '../../src-shared/contract/contract.ts';
import { temporaryFolder } from './support/app.ts';
import { violationsIn } from './support/axe.ts';
import { ask, sourcesOf, startConversation } from './support/chat.ts';
import { dropInto } from './support/library.ts';
import { call, expect, test } from './support/test.ts';

const LEASE = '# Lease of the zebra barn\n\nThe zebra barn is let to Ada Dahl for 4,250 euros a year.\n';
type Project = OutputOf<'projects.list'>[number];

const QUESTION = 'Who rents the zebra barn?';

test('a folder dropped on the list becomes a project, which is edited and deleted by keys', async ({
  sharedWindow: window,
}) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, 'Zebra papers'));
  writeFileSync(join(folder.path, 'Zebra papers', 'lease.md'), LEASE);
  await startConversation(window);
  await dropInto(window, [join(folder.path, 'Zebra papers')], listOf(window));
  await expect(groupOf(window, 'Zebra papers')).toContainText('0');
  await expect(window.getByRole('list', { name: 'Only about' })).toContainText('Zebra papers');
  const documents = () => call(window, 'documents.list', { search: 'zebra', limit: 9 });
  await expect.poll(documents).toMatchObject({ items: [{ phase: 'ready' }] });
  const answer = await ask(window, QUESTION);
  await expect(sourcesOf(answer).first()).toContainText('zebra barn');
  await expect(groupOf(window, 'Zebra papers')).toContainText('1');

  await test.step('F2 edits it', async () => {
    await groupOf(window, 'Zebra papers').press('F2');
    const dialog = window.getByRole('dialog', { name: 'Edit project' });
    expect(await violationsIn(window)).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Barns');
    await dialog.getByRole('textbox', { name: 'Instructions' }).fill('Answer in one sentence.');
    await dialog.getByRole('checkbox', { name: 'Kvasir’s tools' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toBeHidden();
    expect(await call(window, 'projects.list', {})).toMatchObject([
      {
        ...{ name: 'Barns', instructions: 'Answer in one sentence.' },
        options: { scope: { documentIds: [] }, tools: ['kvasir'] },
      },
    ]);
  });

  const conversation = listOf(window).getByRole('link', { name: QUESTION });
  await test.step('arrow keys close and open its group', async () => {
    await groupOf(window, 'Barns').press('ArrowLeft');
    await expect(conversation).toBeHidden();
    await groupOf(window, 'Barns').press('ArrowRight');
    await groupOf(window, 'Barns').press('ArrowDown');
    await expect(conversation).toBeFocused();
  });

  await test.step('a conversation is moved out and in', async () => {
    const move = async (where: string): Promise<void> => {
      await listOf(window)
        .getByRole('button', { name: `Actions for “${QUESTION}”` })
        .click();
      await window.getByRole('menuitem', { name: 'Move to project' }).click();
      await window.getByRole('menuitem', { name: where }).click();
    };
    await move('Out of “Barns”');
    await expect(groupOf(window, 'Barns')).toContainText('0');
    await move('Barns');
    await expect(groupOf(window, 'Barns')).toContainText('1');
  });

  await test.step('Delete asks, and keeps the conversation', async () => {
    await groupOf(window, 'Barns').press('Delete');
    await window.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect(groupOf(window, 'Barns')).toHaveCount(0);
    await expect(conversation).toBeVisible();
  });

  await test.step('a project is made of the conversation, and gets its sources', async () => {
    const choose = async (...items: string[]): Promise<void> => {
      await listOf(window)
        .getByRole('button', { name: `Actions for “${QUESTION}”` })
        .click();
      for (const name of items) await window.getByRole('menuitem', { name }).click();
    };
    await choose('Move to project', 'New project from this conversation');
    const dialog = window.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Of a question');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(groupOf(window, 'Of a question')).toContainText('1');
    const project = async () => ((await call(window, 'projects.list', {})) as Project[])[0] as Project;
    const made = await project();
    expect(made.options.scope.libraryIds).toHaveLength(1);
    await call(window, 'projects.change', { ...made, options: {} });
    expect((await project()).options).not.toEqual(made.options);
    await choose('Use its sources and settings for “Of a question”');
    await expect(window.getByText('New conversations in “Of a question” start with these')).toBeVisible();
    await expect.poll(async () => (await project()).options).toEqual(made.options);
    await call(window, 'projects.delete', { id: made.id });
  });

  await test.step('a project is made of a folder that is chosen', async () => {
    await listOf(window).getByRole('button', { name: 'New project', exact: true }).click();
    const chooser = window.waitForEvent('filechooser');
    await window.getByRole('menuitem', { name: 'New project from a folder…' }).click();
    await (await chooser).setFiles(join(folder.path, 'Zebra papers'));
    await expect(groupOf(window, 'Zebra papers')).toContainText('0');
    await expect.poll(documents).toMatchObject({ items: [{ phase: 'ready' }, { phase: 'ready' }] });
    const [{ id }] = (await call(window, 'projects.list', {})) as [Project];
    await call(window, 'projects.delete', { id });
  });
  folder.remove();
});

test('a project offers its model while another one is in use', async ({ sharedWindow: window }) => {
  const [demo] = (await call(window, 'models.list', {})) as { id: string; name: string; path: string }[];
  const folder = temporaryFolder();
  copyFileSync(demo?.path ?? '', join(folder.path, 'other.gguf'));
  const path = join(folder.path, 'other.gguf');
  const other = (await call(window, 'models.import', { path })) as { id: string };
  await call(window, 'models.rename', { id: other.id, name: 'Other model' });
  await call(window, 'projects.create', { name: 'Of another model', modelId: other.id });
  await listOf(window).getByRole('button', { name: 'New conversation in “Of another model”' }).click();
  const offer = window.getByRole('note').filter({ hasText: 'uses Other model' });
  await offer.getByRole('button', { name: 'Switch' }).click();
  await window.getByRole('dialog').getByRole('button', { name: 'Use this model' }).click();
  await expect(offer).toBeHidden();
  const chatModel = window.getByRole('button', { name: /^Chat model: / });
  await expect(chatModel).toHaveText('Other model');
  await chatModel.click();
  await window.getByRole('menuitem', { name: demo?.name ?? '' }).click();
  await window.getByRole('dialog').getByRole('button', { name: 'Use this model' }).click();
  await expect(chatModel).toHaveText(demo?.name ?? '');
  await expect(offer).toBeVisible();
  folder.remove();
});

function listOf(window: Page): Locator {
  return window.getByRole('complementary', { name: 'Conversations' });
}

/** The row of a project, which opens and closes the group of its conversations. */
function groupOf(window: Page, name: string): Locator {
  return listOf(window).getByRole('button', { name: new RegExp(`^${name} \\d+$`) });
}
