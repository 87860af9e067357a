import type { Page } from '@playwright/test';
import { expect } from './test.ts';

/** Runs a palette command by keyboard: keys typed before its field is ready would go to the previously focused element. */
export async function runCommand(window: Page, command: string): Promise<void> {
  await window.keyboard.press('Control+K');
  const palette = window
    .getByRole('dialog')
    .filter({ has: window.getByPlaceholder('What would you like to do?') });
  await expect(palette.getByPlaceholder('What would you like to do?')).toBeFocused();
  await window.keyboard.type(command);
  await expect(palette.getByRole('button').first()).toContainText(command);
  await window.keyboard.press('Enter');
  await expect(palette).toBeHidden();
}
