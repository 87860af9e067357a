import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { PackOffer } from '../../../src-shared/contract/devices.ts';
import { EventBus } from '../../platform/event-bus.ts';
import { silentLogger } from '../../platform/logger.ts';
import { resolvePaths } from '../../platform/paths.ts';
import { arrived, sendFile, serve, type Answer } from '../../testing/download-server.ts';
import { packPackage, writePins } from '../../testing/gpu-packs.ts';
import { randomFrom } from '../../testing/random.ts';
import { installedPacks, removeOtherReleases } from './installed-packs.ts';
import { PackService } from './pack-service.ts';
import { readPins } from './pins.ts';

const random = randomFrom(1);
const LIBRARY = Buffer.from(Array.from({ length: 300_000 }, () => Math.trunc(random() * 256)));
const PACKAGE = packPackage(LIBRARY);
const sends: Answer = (request, response) => sendFile(PACKAGE, request, response);

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-packs-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

interface Setup {
  data?: string;
  release?: string;
  cuda?: boolean;
  driver?: boolean;
  megabytes?: number;
  installed?: string[];
}

async function kvasir(answer: Answer, { data = tempDir(), installed = [], ...pinned }: Setup = {}) {
  const server = await serve(answer);
  const pins = readPins(writePins(tempDir(), PACKAGE, pinned));
  const dir = join(data, 'packs');
  const events = new EventBus();
  const seen: PackOffer['state'][] = [];
  events.on(({ topic, payload }) => {
    if (topic === 'devices.offers') seen.push(...payload.map(({ state }) => state));
  });
  const service = new PackService({
    ...{ events, dir, pins, log: silentLogger, retryMs: 1 },
    registry: () => Promise.resolve(server.url.replace('models/tiny.gguf', '')),
    isInstalled: (library) => installed.includes(library),
    onInstalled: (path) => void installed.push(path),
  });
  onTestFinished(() => service.close());
  arrived.bytes = () => service.offers()[0]?.bytesDone ?? 0;
  const files = (): string[] => (existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : []);
  const path = join(dir, pins.release, 'libggml-test.so');
  return { service, server, installed, files, seen, path, pins, dir };
}

type Kvasir = Awaited<ReturnType<typeof kvasir>>;

async function fetched({ service, installed }: Kvasir): Promise<PackOffer | undefined> {
  service.fetch('vulkan');
  return vi.waitFor(
    () => {
      const [offer] = service.offers();
      if (installed.length === 0 && offer?.state !== 'failed') throw new Error(`is ${offer?.state}`);
      return offer;
    },
    { timeout: 30_000, interval: 5 },
  );
}

describe('what is offered', () => {
  test('the pins in resources can be read, for each platform', () => {
    const { packPins } = resolvePaths();
    const of = (...system: [NodeJS.Platform, NodeJS.Architecture]) =>
      readPins(packPins, ...system).pins.map(({ title, bytes, member }) => ({ title, bytes, member }));
    expect(of('linux', 'x64')).toEqual([
      { title: 'Vulkan', bytes: 27e6, member: 'package/bins/linux-x64-vulkan/libggml-vulkan.so' },
      { title: 'CUDA', bytes: 143e6, member: 'package/bins/linux-x64-cuda/libggml-cuda.so' },
    ]);
    expect(of('win32', 'x64')[0]?.member).toBe('package/bins/win-x64-vulkan/ggml-vulkan.dll');
    expect(of('darwin', 'arm64')).toEqual([]);
  });

  test('CUDA where its driver is, Vulkan also where it has yet to be installed', async () => {
    const names = ({ service }: Kvasir) => service.offers().map(({ pack, driver }) => [pack, driver]);
    expect(names(await kvasir(sends, { cuda: true }))).toEqual([
      ['vulkan', true],
      ['cuda', true],
    ]);
    expect(names(await kvasir(sends, { cuda: true, driver: false }))).toEqual([['vulkan', false]]);
  });

  test('nothing that is installed', async () => {
    const { service } = await kvasir(sends, { installed: ['libggml-test.so'] });
    expect(service.offers()).toEqual([]);
    expect(() => service.fetch('vulkan')).toThrow(/is already installed/);
    expect(() => service.fetch('cuda')).toThrow(/cuda pack is not available/);
  });
});

describe('a pack', () => {
  test('is fetched, checked, unpacked and handed on; nothing else stays', async () => {
    const setup = await kvasir(sends);
    await fetched(setup);
    expect(setup.installed).toEqual([setup.path]);
    expect(readFileSync(setup.path).equals(LIBRARY)).toBe(true);
    expect(setup.files()).toEqual(['1.0.0', '1.0.0/libggml-test.so']);
    expect(setup.seen).toContain('fetching');
  });

  test('is asked for where npm would ask', async () => {
    const urls: unknown[] = [];
    const setup = await kvasir((request, response, n) => {
      urls.push(request.url);
      sends(request, response, n);
    });
    await fetched(setup);
    expect(urls).toEqual(['/@node-llama-cpp/test-vulkan/-/test-vulkan-1.0.0.tgz']);
  });

  test('goes on after a cut', async () => {
    const setup = await kvasir((request, response, n) =>
      sendFile(PACKAGE, request, response, n === 0 ? { cutAfter: 50_000 } : {}),
    );
    await fetched(setup);
    expect(setup.server.ranges).toEqual(['', 'bytes=50000-']);
    expect(readFileSync(setup.path).equals(LIBRARY)).toBe(true);
  });

  test('is deleted if its checksum is wrong, and can be downloaded again', async () => {
    const setup = await kvasir((request, response) => sendFile(Buffer.from('forged'), request, response));
    const offer = await fetched(setup);
    expect(offer?.failure).toMatchObject({ code: 'CHECKSUM_MISMATCH' });
    expect(offer?.failure?.message).toMatch(
      /^The Vulkan pack could not be downloaded: Checksum mismatch: the file from 127.0.0.1:\d+ has the SHA-512 [\da-f]{128}\.$/,
    );
    expect(setup.files()).toEqual(['1.0.0']);
    setup.server.answers = sends;
    await fetched(setup);
    expect(setup.installed).toEqual([setup.path]);
  });

  test.each<[string, Answer, RegExp, RegExp]>([
    [
      'a registry that has none',
      (_, response) => void response.writeHead(404).end(),
      /^The Vulkan pack could not be downloaded: .* status 404\.$/,
      /npm's registry setting: the registry must have @node-llama-cpp\/test-vulkan 1\.0\.0/,
    ],
    [
      'no connection',
      (request) => void request.socket.destroy(),
      /^The Vulkan pack could not be downloaded: .* could not be reached \(ECONNRESET\)\.$/,
      /proxy/,
    ],
  ])('%s: one sentence, and what to do', async (_, answer, message, advice) => {
    const { failure } = (await fetched(await kvasir(answer))) ?? {};
    expect(failure?.code).toBe('DOWNLOAD_FAILED');
    expect(failure?.message).toMatch(message);
    expect(failure?.advice).toMatch(advice);
  });

  test('that does not fit the disk is not asked for', async () => {
    const setup = await kvasir(sends, { megabytes: 1e12 });
    const { failure } = (await fetched(setup)) ?? {};
    expect(failure?.code).toBe('DISK_FULL');
    expect(failure?.message).toMatch(/: The Vulkan pack of 1000000 TB does not fit the disk of /);
    expect(setup.server.ranges).toEqual([]);
  });

  test('cannot be put into a folder that cannot be made', async () => {
    const data = tempDir();
    writeFileSync(join(data, 'packs'), 'a file');
    const setup = await kvasir(sends, { data });
    expect((await fetched(setup))?.failure).toMatchObject({
      code: 'STORE_READ_ONLY',
      message: expect.stringMatching(/could not be created \(\w+\)\.$/) as string,
    });
  });

  test('cannot be put where a folder of its name is', async () => {
    const setup = await kvasir(sends);
    mkdirSync(setup.path, { recursive: true });
    expect((await fetched(setup))?.failure).toMatchObject({
      code: 'STORE_READ_ONLY',
      message: expect.stringMatching(/libggml-test\.so could not be written \(\w+\)\.$/) as string,
    });
  });

  test('that is cancelled leaves nothing, and is offered as before', async () => {
    const setup = await kvasir((request, response) =>
      sendFile(PACKAGE, request, response, { cutAfter: 50_000 }),
    );
    const before = setup.service.offers();
    setup.service.fetch('vulkan');
    await vi.waitFor(() => expect(setup.service.offers()[0]?.bytesDone).toBeGreaterThan(0), 30_000);
    await setup.service.cancel('vulkan');
    expect(setup.service.offers()).toEqual(before);
    expect(setup.files()).toEqual(['1.0.0']);
    setup.server.answers = sends;
    await fetched(setup);
    expect(setup.installed).toEqual([setup.path]);
  });
});

describe('packs that are here', () => {
  test('those of the build come first, and one that was fetched counts where it is not among them', async () => {
    const { pins, dir, path } = await kvasir(sends, { release: '1.0.0' });
    mkdirSync(join(dir, '1.0.0'), { recursive: true });
    for (const name of ['libggml-test.so', 'libggml-foreign.so', 'libggml-test.so.new'])
      writeFileSync(join(dir, '1.0.0', name), '');
    expect(installedPacks(['/b/libggml-cuda.so'], dir, pins)).toEqual(['/b/libggml-cuda.so', path]);
    expect(installedPacks(['/b/libggml-test.so'], dir, pins)).toEqual(['/b/libggml-test.so']);
  });

  test('those of another release are removed, with a sentence, and never loaded', async () => {
    const { pins, dir } = await kvasir(sends, { release: '2.0.0' });
    mkdirSync(join(dir, '1.0.0'), { recursive: true });
    writeFileSync(join(dir, '1.0.0', 'libggml-test.so'), '');
    expect(installedPacks([], dir, pins)).toEqual([]);
    expect(removeOtherReleases(dir, pins.release, silentLogger).map(({ message }) => message)).toEqual([
      "libggml-test.so was removed: it is for release 1.0.0 of ggml's packages, and Kvasir needs 2.0.0.",
    ]);
    expect(readdirSync(dir)).toEqual([]);
    expect(removeOtherReleases(dir, pins.release, silentLogger)).toEqual([]);
  });
});
