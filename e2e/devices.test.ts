/** GPU packs in the app: broken ones, and ggml's Vulkan backend if setup has installed it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { packFiles } from '../src-main/engine/packs.ts';
import { DEMO_MODEL, DOCUMENTS, QUESTION, removeDir, tempDir, writeFiles } from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { readLibrary } from './support/library.ts';

let dir: string;
let library: string;
beforeAll(() => {
  dir = tempDir();
  library = writeFiles(join(dir, 'docs'), DOCUMENTS);
});
afterAll(() => removeDir(dir));

/** A new Kvasir's answer to one question, and the device it ran on. */
async function answer(name: string, packs: readonly string[], device: string) {
  const app = await App.open({
    dataDir: join(dir, name),
    overrides: { device, threads: 1 },
    packs,
  });
  try {
    const { ask, model } = await readLibrary(app, { path: library });
    const strategy = { name: 'deviation' as const, ratio: 0.15 };
    const { answer: text } = await ask({ question: QUESTION, strategy, maxTokens: 24 });
    return { text, devices: app.devices.status(), ranOn: [...new Set(model.info.layerDevices)] };
  } finally {
    await app.close();
  }
}

test('an invalid pack and a missing one: a message each, and Kvasir runs on the CPU', async () => {
  const broken = join(dir, 'libggml-broken.so');
  writeFileSync(broken, 'not a library');
  const packs = [broken, join(dir, 'libggml-absent.so')];
  const { text, devices, ranOn } = await answer('broken', packs, 'auto');
  expect(text).toContain('Oslo');
  expect(ranOn).toEqual(['CPU']);
  expect(devices.automatic).toEqual({ device: 'cpu', why: 'none-works' });
  const failures = devices.packs.map(({ failure }) => failure);
  expect(failures.map((failure) => failure?.code)).toEqual(['DEVICE_FAILED', 'DEVICE_FAILED']);
  expect(failures[0]?.message).toMatch(
    /^The GPU pack libggml-broken\.so could not be loaded, so the CPU is used: .+\.$/,
  );
  expect(failures[1]?.message).toMatch(
    /^There is no GPU pack at .+libggml-absent\.so, so the CPU is used\.$/,
  );
});

test('the command line reports a missing device, and answers', async () => {
  const data = join(dir, 'cli');
  const flags = ['--data', data, '--library', library, '--model', DEMO_MODEL, '--max-tokens', '8'];
  mkdirSync(data);
  writeFileSync(join(data, 'settings.json'), JSON.stringify({ device: 'CUDA7' }));
  const { code, stdout, stderr } = await runHere(['ask', ...flags, QUESTION]);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('Note: Device CUDA7 not found');
  expect(stdout).toContain('Oslo');
});

const vulkan = packFiles().find((path) => basename(path).includes('vulkan'));

describe.skipIf(!vulkan)('the Vulkan backend (skipped without `npm run setup -- --vulkan`)', () => {
  test("is tested, and gives the CPU's answer once it is selected", async ({ skip }) => {
    // ggml skips drivers that compute on the CPU, such as Mesa's lavapipe, unless a device is named.
    process.env.GGML_VK_VISIBLE_DEVICES ??= '0';
    const packs = vulkan === undefined ? [] : [vulkan];
    const there = await answer('vulkan', packs, 'Vulkan0');
    const found = there.devices.devices.find(({ name }) => name === 'Vulkan0');
    skip(!found, 'Vulkan finds no device');
    expect(found).toMatchObject({ state: 'good', failure: null });
    expect(found?.tokensPerSecond).toBeGreaterThan(0);
    expect(there.ranOn).toEqual(['Vulkan0']);
    const here = await answer('processor', [], 'cpu');
    expect(there.text).toBe(here.text);
    expect(here.text).toContain('Oslo');
  });
});
