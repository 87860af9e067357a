import { readdirSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Devices } from '../../src-shared/contract/devices.ts';
import { en } from '../../src-renderer/i18n/words.ts';
import { packPackage, writePins } from '../../src-main/testing/gpu-packs.ts';
import { startApp } from './support/app.ts';
import { changingReplies } from './support/replies.ts';
import { openSettings } from './support/screens.ts';
import { expect, homeOf, openWindow, test } from './support/test.ts';

const { engine } = en.settings;

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

/** Makes the core report these devices, whatever the machine has; returns the window's calls. */
const saying = (window: Page, devices: () => Devices) => changingReplies(window, 'devices.get', devices);

test('without a GPU the settings say that the CPU computes', async ({ sharedWindow: window }) => {
  await openSettings(window, 'engine');
  const section = window.getByRole('region', { name: engine.devices });
  await expect(section.getByText('CPU', { exact: true })).toBeVisible();
  test.skip(!(await section.getByText(engine.automatic['no-gpu']).isVisible()), 'this machine has a GPU');
  await expect(section.getByRole('button', { name: engine.testAgain })).toHaveCount(0);
});

test('a GPU that works: how fast it is, and that Automatic takes it', async ({ sharedWindow }) => {
  const window = await sharedWindow.context().newPage();
  const called = await saying(window, () => DEVICES);
  await window.goto(homeOf(sharedWindow));
  await openSettings(window, 'engine');
  const section = window.getByRole('region', { name: engine.devices });
  await expect(section.getByText(engine.state.good)).toBeVisible();
  await expect(section).toContainText('Automatic uses Vulkan0, because it was the fastest in the test.');
  await expect(section).toContainText('9,000 prompt tokens per second');
  await expect(section).toContainText('the CPU 1,200');
  await section.getByRole('button', { name: engine.testAgain }).click();
  await expect.poll(() => called.map(({ name }) => name)).toContain('devices.test');
});

test('a GPU that is off says why, and so does a pack without one', async ({ sharedWindow }) => {
  const window = await sharedWindow.context().newPage();
  const because = (message: string) => ({
    code: 'DEVICE_FAILED' as const,
    message,
    advice: 'Test it again.',
  });
  const off = because('The results of Vulkan0 differ from the CPU’s (writing).');
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
  await window.goto(homeOf(sharedWindow));
  await openSettings(window, 'engine');
  const section = window.getByRole('region', { name: engine.devices });
  await expect(section.getByText(engine.state.off)).toHaveCount(2);
  await expect(section.getByText(engine.state.untested)).toBeVisible();
  await expect(section).toContainText(engine.automatic['none-works']);
  for (const { message } of [off, broken]) await expect(section).toContainText(message);
});

/** A registry that responds as the test specifies; returns its address. */
async function registry(answer: { by: (response: ServerResponse) => void }) {
  const server = createServer((_, response) => answer.by(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

test('a pack is got by a click: what goes wrong, how far it is, and what its test says', async ({
  dataDir,
  context,
}) => {
  // Not a library, so that its test fails on any machine.
  const packed = packPackage(Buffer.alloc(200_000, 'not a library'));
  const answer = { by: (response: ServerResponse) => void response.end('something else') };
  const { address, close } = await registry(answer);
  const app = await startApp(dataDir, [], undefined, {
    KVASIR_PACKS: writePins(join(dataDir, 'pins'), packed),
    npm_config_registry: address,
  });
  try {
    const window = await openWindow(app, context);
    await openSettings(window, 'engine');
    const section = window.getByRole('region', { name: engine.devices });
    const pack = section.getByRole('group', { name: 'Vulkan pack' });

    await pack.getByRole('button', { name: 'Get the Vulkan pack (27 MB)' }).click();
    await expect(pack).toContainText('The Vulkan pack could not be downloaded');
    await expect(pack).toContainText('Checksum mismatch');

    answer.by = (response) => {
      response.writeHead(200, { 'content-length': packed.length });
      response.write(packed.subarray(0, packed.length / 2));
    };
    await pack.getByRole('button', { name: en.common.action.retry }).click();
    await expect(pack.getByRole('progressbar')).toHaveAttribute('aria-valuenow', /[1-9]/);
    await pack.getByRole('button', { name: en.common.action.cancel }).click();
    await expect(pack.getByRole('button', { name: 'Get the Vulkan pack (27 MB)' })).toBeVisible();

    answer.by = (response) => void response.end(packed);
    await pack.getByRole('button', { name: 'Get the Vulkan pack (27 MB)' }).click();
    await expect(pack).toHaveCount(0);
    await expect(section.getByText('libggml-test.so', { exact: true })).toBeVisible();
    await expect(section.getByText(engine.state.off)).toBeVisible();
    await expect(section).toContainText(engine.automatic['none-works']);
    expect(readdirSync(join(app.dataDir, 'packs'), { recursive: true }).sort()).toEqual([
      '1.0.0',
      '1.0.0/libggml-test.so',
    ]);
  } finally {
    await app.stop();
    close();
  }
});
