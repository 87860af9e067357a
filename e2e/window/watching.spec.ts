/** Results of comparing blended answers in idle time: on the Models screen, and the switch in Settings. */
import type { Page } from '@playwright/test';
import { chatModels, showQuality } from './support/models.ts';
import { expect, goTo, test } from './support/test.ts';
import { writeWatched } from './support/watching.ts';

const section = (window: Page) =>
  window.getByRole('region', { name: 'Does blending preserve quality in use?' });

test('compared answers are shown with what followed from them, which can be taken back; a switch ends it', async ({
  window,
  dataDir,
}) => {
  await showQuality(window);
  await expect(section(window)).toContainText('Nothing has been compared yet.');
  await expect(chatModels(window)).toContainText('In use');

  await test.step('it is switched off in Settings', async () => {
    await goTo(window, 'Settings');
    await window.getByRole('button', { name: 'Answers' }).click();
    const checks = window.getByRole('switch', { name: 'Check blended answers while the computer is idle' });
    await expect(checks).toBeChecked();
    await checks.click();
    await expect(checks).not.toBeChecked();
    await showQuality(window);
    await expect(section(window)).toContainText('Turned off in Settings');
  });

  writeWatched(dataDir, [
    {
      libraryId: '1',
      before: [0.4, 0.2, 0.3, 0.5, 0.1, 0.4, 0.3, 0.2],
      leastRatio: 0.3,
      since: [0.01, 0.02],
    },
  ]);
  await window.reload();
  await showQuality(window);
  const sample = section(window).getByRole('region', { name: /Sample library/ });
  await expect(sample).toContainText('recomputes at least 30% of the cached text');
  await expect(sample).toContainText('2 answers compared; at least 8 are needed for a conclusion.');
  await expect(sample).toContainText('KL 0.015');

  const picture = sample.getByRole('application', { name: /^KL along the answer/ });
  await picture.press('ArrowRight');
  await expect(picture).toContainText(/Answer 1.*KL 0.4/);

  await sample.getByRole('button', { name: 'Blend as before' }).click();
  await expect(sample).toContainText('No answers compared since then.');
  await expect(sample.getByRole('button')).toHaveCount(0);
});
