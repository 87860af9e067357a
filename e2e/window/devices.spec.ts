import type { Page } from '@playwright/test';
import type { Devices } from '../../src-shared/contract/devices.ts';
import { en } from '../../src-renderer/i18n/en/index.ts';
import { openSettings } from './support/screens.ts';
import { expect, test } from './support/test.ts';

const { engine } = en.settings;
const ENGINE = 3;

const GPU: Devices['devices'][number] = {
  ...{ name: 'Vulkan0', description: 'A card', kind: 'gpu', memoryFree: 4e9, memoryTotal: 8e9 },
  ...{ state: 'good', failure: null, tokensPerSecond: 9000, cpuTokensPerSecond: 1200 },
};
const DEVICES: Devices = {
  devices: [GPU],
  packs: [],
  automatic: { device: 'Vulkan0', why: 'fastest' },
  testing: false,
};

/** Has the core say this of the devices, whatever the machine has; tells which other procedures were called. */
async function saying(window: Page, devices: () => Devices): Promise<string[]> {
  const called: string[] = [];
  await window.routeWebSocket(/\/socket$/, (page) => {
    const core = page.connectToServer();
    const asked = new Set<number>();
    page.onMessage((text) => {
      const { id, name } = JSON.parse(String(text)) as { id: number; name: string };
      called.push(name);
      if (name === 'devices.get') asked.add(id);
      core.send(text);
    });
    core.onMessage((text) => {
      const reply = JSON.parse(String(text)) as { id?: number };
      const mine = reply.id !== undefined && asked.has(reply.id);
      page.send(mine ? JSON.stringify({ ...reply, data: devices() }) : text);
    });
  });
  return called;
}

test('without a GPU the settings say that the CPU computes', async ({ window }) => {
  await openSettings(window, ENGINE);
  const section = window.getByRole('region', { name: engine.devices });
  await expect(section.getByText('CPU', { exact: true })).toBeVisible();
  test.skip(!(await section.getByText(engine.automatic['no-gpu']).isVisible()), 'this machine has a GPU');
  await expect(section.getByRole('button', { name: engine.testAgain })).toHaveCount(0);
});

test('a GPU that works: how fast it is, and that Automatic takes it', async ({ app, context }) => {
  const window = await context.newPage();
  const called = await saying(window, () => DEVICES);
  await window.goto(app.url);
  await openSettings(window, ENGINE);
  const section = window.getByRole('region', { name: engine.devices });
  await expect(section.getByText(engine.state.good)).toBeVisible();
  await expect(section).toContainText('Automatic uses Vulkan0, because it was the fastest in the test.');
  await expect(section).toContainText('9,000 tokens of a prompt per second');
  await expect(section).toContainText('the CPU 1,200');
  await section.getByRole('button', { name: engine.testAgain }).click();
  await expect.poll(() => called).toContain('devices.test');
});

test('a GPU that is off says why, and so does a pack without one', async ({ app, context }) => {
  const window = await context.newPage();
  const because = (message: string) => ({
    code: 'DEVICE_FAILED' as const,
    message,
    advice: 'Test it again.',
  });
  const off = because('Vulkan0 computes something else than the processor (writing).');
  const broken = because('The GPU pack libggml-cuda.so could not be loaded.');
  await saying(window, () => ({
    devices: [{ ...GPU, state: 'off', failure: off }],
    packs: [
      { name: 'libggml-cuda.so', failure: broken },
      { name: 'libggml-other.so', failure: null },
    ],
    automatic: { device: 'cpu', why: 'none-works' },
    testing: false,
  }));
  await window.goto(app.url);
  await openSettings(window, ENGINE);
  const section = window.getByRole('region', { name: engine.devices });
  await expect(section.getByText(engine.state.off)).toHaveCount(2);
  await expect(section.getByText(engine.state.untested)).toBeVisible();
  await expect(section).toContainText(engine.automatic['none-works']);
  for (const { message } of [off, broken]) await expect(section).toContainText(message);
});
