import { openSettings } from './support/screens.ts';
import { call, expect, test } from './support/test.ts';

test('fields of the settings are saved as they are left', async ({ sharedWindow: window }) => {
  const saved = () => call(window, 'settings.get', {}) as Promise<Record<string, unknown>>;
  const before = await saved();
  const enter = async (name: string, text: string): Promise<void> => {
    const field = window.getByRole('textbox', { name, exact: true });
    await field.fill(text);
    await field.blur();
  };
  const flip = (name: string) => window.getByRole('switch', { name }).click({ force: true });

  await openSettings(window, 'answers');
  await window.getByRole('combobox', { name: 'Blending strategy' }).click();
  await window.getByRole('option', { name: 'Blend by deviation' }).click();
  await window.getByRole('slider', { name: 'Recompute ratio' }).press('End');
  await flip('From your documents only');
  await flip('Choose the number of passages automatically');
  await enter('Passages per prompt', '9');
  await enter('Maximum answer length (tokens)', '321');
  await enter('Context', '4,096');
  await enter('Instructions for the model', 'Answer briefly.');
  await expect.poll(saved).toMatchObject({
    ...{ strategy: { name: 'deviation', ratio: 1 }, strict: false, topK: 9, maxTokens: 321 },
    ...{ contextTokens: 4096, systemPrompt: 'Answer briefly.' },
  });

  await openSettings(window, 'documents');
  await enter('Largest file (MB)', '7');
  await expect.poll(saved).toMatchObject({ maxFileBytes: 7e6 });
  await flip('Automatic size');
  const dialog = window.getByRole('dialog');
  await expect(dialog).toContainText('512');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);

  const { strategy, strict = null, maxTokens, contextTokens, systemPrompt, maxFileBytes } = before;
  const others = { strategy, strict, maxTokens, contextTokens, systemPrompt, maxFileBytes, topK: null };
  await call(window, 'settings.update', others);
  expect(await saved()).toEqual(before);
});
