import { expect, goTo, test } from './support/test.ts';

test('a lower budget asks once, and is given up at once', async ({ sharedWindow: window }) => {
  await goTo(window, 'Cache');
  const field = window.getByRole('textbox', { name: 'Budget on disk' });
  const before = await field.inputValue();
  await field.fill('0.01');
  await field.press('Enter');
  const dialog = window.getByRole('dialog', { name: 'Keep less on disk?' });
  await expect(dialog).toHaveCount(1);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(window.getByRole('dialog')).toHaveCount(0);
  await expect(field).toHaveValue(before);
});
