import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Device } from '../engine/engine.ts';
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { silentLogger } from '../platform/logger.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { DeviceService } from './device-service.ts';
import type { DeviceRequest, MeasuredDevice } from './trial/protocol.ts';

const GOOD: MeasuredDevice = { wrong: '', tokensPerSecond: 900, cpuTokensPerSecond: 100 };
const SLOW: MeasuredDevice = { wrong: '', tokensPerSecond: 50, cpuTokensPerSecond: 100 };
const DIED = new KvasirError('DEVICE_FAILED', 'Its test process crashed (SIGSEGV).');

function device(name: string, kind: Device['kind'] = 'gpu'): Device {
  return { name, description: `${name} of a test`, kind, memoryFree: 1e9, memoryTotal: 2e9 };
}

/** Results of device tests by device name; under a pack's name, the error of listing its devices. */
type Outcomes = Record<string, MeasuredDevice | KvasirError>;

interface Setup {
  data?: string;
  packs?: Record<string, string[]>;
  /** Packs that are installed after start. */
  later?: Record<string, string[]>;
  outcomes?: Outcomes;
  builtIn?: Device[];
  version?: string;
  /** Makes loading a pack fail here although its test succeeded. */
  loadPack?: (path: string) => void;
}

function kvasir({
  data = tempDir(),
  packs = {},
  later = {},
  outcomes = {},
  builtIn = [],
  ...rest
}: Setup = {}) {
  const settings = new SettingsService(join(data, 'settings.json'));
  const events = new EventBus();
  const notices: Failure[] = [];
  events.on(({ topic, payload }) => {
    if (topic === 'app.notice') notices.push(payload.failure);
  });
  const devices = [device('CPU', 'cpu'), ...builtIn];
  const found: Failure[] = [];
  const asked: DeviceRequest[] = [];
  const namesOf = (pack: string | null): string[] =>
    pack === null
      ? builtIn.map(({ name }) => name)
      : (Object.entries({ ...packs, ...later }).find(([name]) => pack.endsWith(name))?.[1] ?? []);
  const service = new DeviceService({
    ...{ settings, events, gate: new Gate(), log: silentLogger },
    engine: {
      devices: () => devices,
      loadPack(path) {
        rest.loadPack?.(path);
        devices.push(...namesOf(path).map((name) => device(name)));
      },
    },
    packs: Object.keys(packs).map((name) => packFile(data, name)),
    path: join(data, 'devices.json'),
    version: rest.version ?? '1',
    demoModel: '/demo.gguf',
    ask: (request) => {
      asked.push(request);
      const outcome =
        outcomes[request.ask === 'list' ? String(request.pack?.split('/').at(-1)) : request.device];
      if (outcome instanceof Error) return Promise.reject(outcome);
      if (request.ask === 'try' && outcome) return Promise.resolve({ measured: outcome });
      const listed = namesOf(request.pack).map((name) => ({ name, description: `${name} of a test` }));
      return Promise.resolve({ devices: listed });
    },
    onFound: (failure) => void found.push(failure),
  });
  onTestFinished(() => service.close());
  return { data, service, settings, notices, found, asked, devices };
}

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-devices-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function packFile(dir: string, name: string): string {
  const path = join(dir, name);
  appendFileSync(path, '');
  return path;
}

/** Returns the device that a model is loaded on. */
const loadedOn = (service: DeviceService): Promise<string> =>
  service.load('Some model', (name) => Promise.resolve(name));

const VULKAN = { 'libggml-vulkan.so': ['Vulkan0'] };

describe('without a GPU', () => {
  test('nothing is tried, and the engine gets what the settings say', async () => {
    const { service, asked, settings } = kvasir();
    await service.settled();
    expect(asked).toEqual([]);
    expect(service.current).toBe('auto');
    expect(service.status()).toMatchObject({ automatic: { why: 'no-gpu' }, packs: [], testing: false });
    settings.update({ device: 'cpu' });
    expect(service.current).toBe('cpu');
  });

  test('a device that is not there is told once, and the processor goes on', async () => {
    const { service, notices, settings } = kvasir();
    settings.update({ device: 'Vulkan0' });
    expect(await loadedOn(service)).toBe('cpu');
    expect(await loadedOn(service)).toBe('cpu');
    expect(notices.map(({ message }) => message)).toEqual(['Device Vulkan0 not found, so the CPU is used.']);
  });
});

describe('a new pack', () => {
  test('is not loaded before its trial, then used, and at the next start loaded at once', async () => {
    const first = kvasir({ packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    const { service, devices, notices } = first;
    expect(service.current).toBe('cpu');
    expect(service.status()).toMatchObject({ testing: true, automatic: { why: 'untested' } });
    expect(devices.map(({ name }) => name)).toEqual(['CPU']);
    let changes = 0;
    service.onChange(() => changes++);
    await service.settled();
    expect(changes).toBe(1);
    expect(service.current).toBe('Vulkan0');
    expect(service.packs).toEqual([join(first.data, 'libggml-vulkan.so')]);
    expect(service.status()).toMatchObject({
      devices: [
        { name: 'CPU', state: 'good' },
        { name: 'Vulkan0', state: 'good', tokensPerSecond: 900 },
      ],
      automatic: { device: 'Vulkan0', why: 'fastest' },
      testing: false,
    });
    expect(notices).toEqual([]);
    const second = kvasir({ data: first.data, packs: VULKAN });
    expect(second.service.current).toBe('Vulkan0');
    await second.service.settled();
    expect(second.asked).toEqual([]);
  });

  test('with a GPU that is slower than the CPU is used by those who ask for it', async () => {
    const { service, settings } = kvasir({ packs: VULKAN, outcomes: { Vulkan0: SLOW } });
    await service.settled();
    expect(service.status().automatic).toEqual({ device: 'cpu', why: 'cpu-faster' });
    expect(await loadedOn(service)).toBe('cpu');
    settings.update({ device: 'Vulkan0' });
    expect(await loadedOn(service)).toBe('Vulkan0');
  });

  test('with a GPU that computes something else stays unloaded, and says so', async () => {
    const wrong = { ...GOOD, wrong: 'blending' };
    const { service, devices, notices, settings } = kvasir({ packs: VULKAN, outcomes: { Vulkan0: wrong } });
    await service.settled();
    settings.update({ device: 'Vulkan0' });
    expect(await loadedOn(service)).toBe('cpu');
    expect(devices.map(({ name }) => name)).toEqual(['CPU']);
    expect(notices[0]).toMatchObject({
      code: 'DEVICE_FAILED',
      message: "The results of Vulkan0 differ from the CPU's (blending), so the CPU is used.",
    });
    expect(service.status().devices[1]).toMatchObject({ name: 'Vulkan0', state: 'off', failure: notices[0] });
  });

  test.each([
    ['that cannot be listed', { 'libggml-vulkan.so': DIED }],
    ['whose only GPU ends the process', { Vulkan0: DIED }],
  ])('%s says how it ended, once, and is not tried at the next start', async (_, outcomes: Outcomes) => {
    const first = kvasir({ packs: VULKAN, outcomes });
    await first.service.settled();
    expect(first.notices.map(({ message }) => message)).toEqual([DIED.message]);
    expect(first.service.status().automatic).toEqual({ device: 'cpu', why: 'none-works' });
    const second = kvasir({ data: first.data, packs: VULKAN, outcomes });
    await second.service.settled();
    expect(second.asked).toEqual([]);
    expect(second.notices).toEqual([]);
  });

  test('without a GPU says so', async () => {
    const { service, notices } = kvasir({ packs: { 'libggml-cuda.so': [] } });
    await service.settled();
    expect(notices[0]?.message).toBe('libggml-cuda.so found no usable GPU, so the CPU is used.');
    expect(service.status().packs).toEqual([{ name: 'libggml-cuda.so', failure: notices[0] }]);
  });

  test('one that ends its process says nothing of another', async () => {
    const packs = { 'libggml-cuda.so': ['CUDA0'], 'libggml-vulkan.so': ['Vulkan0', 'Vulkan1'] };
    const faster = { ...GOOD, tokensPerSecond: 1000 };
    const outcomes = { 'libggml-cuda.so': DIED, Vulkan0: GOOD, Vulkan1: faster };
    const { service } = kvasir({ packs, outcomes });
    await service.settled();
    expect(service.current).toBe('Vulkan1');
  });

  test('is tried again once it changed, and with another version of the program', async () => {
    const first = kvasir({ packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    await first.service.settled();
    writeFileSync(join(first.data, 'libggml-vulkan.so'), 'another');
    const second = kvasir({ data: first.data, packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    expect(second.service.current).toBe('cpu');
    await second.service.settled();
    const third = kvasir({ data: first.data, packs: VULKAN, version: '2' });
    expect(third.service.status().testing).toBe(true);
  });

  test('whose result cannot be read is tried again', async () => {
    const data = tempDir();
    writeFileSync(join(data, 'devices.json'), '{ "version": 1, "sources": [');
    const { service } = kvasir({ data, packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    await service.settled();
    expect(service.current).toBe('Vulkan0');
    expect(readFileSync(join(data, 'devices.json'), 'utf8')).toContain('"name": "Vulkan0"');
  });

  test('that does not load here although it did in its trial is not used', async () => {
    const loadPack = (): never => {
      throw new KvasirError('DEVICE_FAILED', 'It could not be loaded.');
    };
    const { service, notices } = kvasir({ packs: VULKAN, outcomes: { Vulkan0: GOOD }, loadPack });
    await service.settled();
    expect(service.current).toBe('cpu');
    expect(notices.map(({ message }) => message)).toEqual(['It could not be loaded.']);
  });
});

describe('a pack that comes while Kvasir runs', () => {
  test('is tried, then used; what is loaded on the processor stays until then', async () => {
    const { service, data, devices, notices } = kvasir({ later: VULKAN, outcomes: { Vulkan0: GOOD } });
    const told: string[] = [];
    service.onChange(() => told.push(service.current));
    service.addPack(packFile(data, 'libggml-vulkan.so'));
    expect(service.hasPack('libggml-vulkan.so')).toBe(true);
    expect(service.status()).toMatchObject({ testing: true, automatic: { why: 'untested' } });
    expect(devices.map(({ name }) => name)).toEqual(['CPU']);
    expect(told).toEqual([]);
    await service.settled();
    expect(told).toEqual(['Vulkan0']);
    expect(notices).toEqual([]);
    const next = kvasir({ data, packs: VULKAN });
    expect(next.service.current).toBe('Vulkan0');
  });

  test('and does not work says why, and stays unloaded', async () => {
    const { service, data, devices, notices } = kvasir({
      later: VULKAN,
      outcomes: { 'libggml-vulkan.so': DIED },
    });
    service.addPack(packFile(data, 'libggml-vulkan.so'));
    await service.settled();
    expect(notices.map(({ message }) => message)).toEqual([DIED.message]);
    expect(service.status().packs).toEqual([{ name: 'libggml-vulkan.so', failure: notices[0] }]);
    expect(devices.map(({ name }) => name)).toEqual(['CPU']);
  });
});

describe('a GPU that needs no pack', () => {
  const metal = { builtIn: [device('Metal')], outcomes: { Metal: GOOD } };

  test('is tried as well, before it is used', async () => {
    const { service } = kvasir(metal);
    expect(service.current).toBe('cpu');
    expect(service.status().devices[1]).toMatchObject({ name: 'Metal', state: 'untested' });
    await service.settled();
    expect(service.current).toBe('Metal');
    expect(service.packs).toEqual([]);
  });
});

describe('a GPU that works', () => {
  async function working(): Promise<ReturnType<typeof kvasir>> {
    const setup = kvasir({ packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    await setup.service.settled();
    return setup;
  }

  test('that cannot load a model leaves it to the processor, and says why', async () => {
    const { service, notices } = await working();
    const loaded = await service.load('Large', (name, onGpu) => {
      if (onGpu) throw new KvasirError('OUT_OF_MEMORY', 'Could not allocate 9000 MiB in Vulkan0.');
      return Promise.resolve(name);
    });
    expect(loaded).toBe('cpu');
    expect(notices.map(({ message }) => message)).toEqual([
      'Large could not be loaded on Vulkan0, so the CPU is used: Could not allocate 9000 MiB in Vulkan0.',
    ]);
  });

  test('is not blamed for a model that the processor cannot load either', async () => {
    const { service, notices } = await working();
    const failure = new KvasirError('MODEL_INVALID', 'It is no model.');
    await expect(service.load('Bad', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(notices).toEqual([]);
  });

  test('is switched off when the program ended while a model was loaded on it, until it is tested again', async () => {
    const { service, data } = await working();
    void service.load('Large', () => new Promise(() => undefined));
    // The program is killed here: nothing is closed.
    const next = kvasir({ data, packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    expect(next.service.current).toBe('cpu');
    expect(next.found.map(({ message }) => message)).toEqual([
      'Kvasir crashed while loading Large on Vulkan0, so the CPU is used.',
    ]);
    await next.service.settled();
    expect(next.asked).toEqual([]);
    const third = kvasir({ data, packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    expect(third.found).toEqual([]);
    expect(third.service.current).toBe('cpu');
    third.service.test();
    await third.service.settled();
    expect(third.service.current).toBe('Vulkan0');
  });

  test('that is off is told once by a start, also where the settings name it', async () => {
    const { service, data, settings } = await working();
    settings.update({ device: 'Vulkan0' });
    void service.load('Large', () => new Promise(() => undefined));
    const next = kvasir({ data, packs: VULKAN });
    expect(await loadedOn(next.service)).toBe('cpu');
    expect(next.found).toHaveLength(1);
    expect(next.notices).toEqual([]);
  });

  test('that is off is tested again by choosing it', async () => {
    const { service, data } = await working();
    void service.load('Large', () => new Promise(() => undefined));
    const next = kvasir({ data, packs: VULKAN, outcomes: { Vulkan0: GOOD } });
    next.settings.update({ device: 'Vulkan0' });
    await next.service.settled();
    expect(await loadedOn(next.service)).toBe('Vulkan0');
  });

  test('is switched off with its pack when the program ended while that was loaded', async () => {
    const { data } = await working();
    let killed = '';
    const loadPack = (): void => void (killed = readFileSync(join(data, 'devices.json'), 'utf8'));
    kvasir({ data, packs: VULKAN, loadPack });
    writeFileSync(join(data, 'devices.json'), killed);
    const next = kvasir({ data, packs: VULKAN });
    expect(next.found[0]?.message).toBe(
      'Kvasir crashed while testing libggml-vulkan.so, so the CPU is used.',
    );
    expect(next.service.packs).toEqual([]);
    expect(next.service.status().packs).toEqual([{ name: 'libggml-vulkan.so', failure: next.found[0] }]);
  });
});
