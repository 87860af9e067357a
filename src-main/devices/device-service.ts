import type { DeviceInfo, Devices } from '../../src-shared/contract/devices.ts';
import type { Failure } from '../../src-shared/contract/common.ts';
import type { Device, Engine } from '../engine/engine.ts';
import type { Core } from '../platform/core.ts';
import { failureOf } from '../platform/failure.ts';
import { RecurringTask } from '../platform/recurring-task.ts';
import { isAborted } from '../platform/abort.ts';
import { automaticDevice } from './choose.ts';
import { DevicesFile, type Risk, type TriedDevice, type TriedSource } from './devices-file.ts';
import { endedFailure, noSuchDeviceFailure, notLoadedFailure } from './failures.ts';
import { isGpu } from './gpu.ts';
import { BUILT_IN, packSource, sourcesOf, type Source } from './sources.ts';
import type { AskDevices } from './trial/ask-devices.ts';
import { trySource } from './try-source.ts';

interface DeviceServiceOptions extends Core {
  engine: Pick<Engine, 'devices' | 'loadPack'>;
  /** Files of installed packs. */
  packs: readonly string[];
  /** File that stores the results. */
  path: string;
  version: string;
  /** Model used to test devices. */
  demoModel: string;
  ask: AskDevices;
  /** Called with what ended the program's last run. */
  onFound: (failure: Failure) => void;
}

/** Minimum time between two rounds of tests, in milliseconds. */
const PAUSE_MS = 1000;

/**
 * Chooses the device that models are loaded on. A GPU is used only after a test in a separate process gave the CPU's
 * results; until then its pack is not even loaded here.
 */
export class DeviceService {
  /** Packs loaded in this process. */
  readonly packs: string[] = [];
  readonly #options: DeviceServiceOptions;
  readonly #file: DevicesFile;
  readonly #sources: Source[];
  readonly #tried = new Map<Source, TriedSource>();
  readonly #waiting: Set<Source>;
  readonly #task: RecurringTask;
  readonly #listeners = new Set<() => void>();
  /** Failures already reported since the settings changed. */
  readonly #told = new Set<string>();
  #now: string;

  constructor(options: DeviceServiceOptions) {
    this.#options = options;
    const { engine, log, settings } = options;
    this.#file = new DevicesFile(options.path, (error) =>
      log.warn('devices-not-written', { error: String(error) }),
    );
    this.#sources = sourcesOf(engine, options.packs, options.version);
    for (const risk of this.#file.takeRisks()) this.#blame(risk);
    for (const source of this.#sources) {
      const failure = this.#know(source, this.#file.find(source.name, source.key));
      if (failure) options.onFound(failure);
    }
    this.#waiting = new Set(this.#sources.filter((source) => !this.#tried.has(source)));
    this.#now = this.current;
    this.#task = new RecurringTask({
      work: (signal) => this.#round(signal),
      pauseMs: PAUSE_MS,
      onFailed: (error) => log.warn('devices-not-tried', { error: String(error) }),
    });
    this.#task.until([
      settings.onChange((now, before) => {
        if (now.device !== before.device) this.#onChosen(now.device);
      }),
    ]);
  }

  /**
   * The device to pass to the engine for the device in the settings: 'cpu', a device name, or 'auto' if there is no
   * GPU.
   */
  get current(): string {
    const { device } = this.#options.settings.current;
    if (device === 'auto') return this.#sources.length === 0 ? device : this.#automatic().device;
    return device === 'cpu' || this.#isUsable(device) ? device : 'cpu';
  }

  /** Called when `current` changes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts testing, in the background, devices that are untested or have changed. */
  start(): void {
    if (this.#waiting.size > 0) this.#task.soon();
  }

  /** Resolves when all tests are done. */
  async settled(): Promise<void> {
    this.start();
    await this.#task.idle();
  }

  hasPack(name: string): boolean {
    return this.#sources.some((source) => source.name === name);
  }

  /** Adds a newly installed pack; like every pack it is tested before it is used. */
  addPack(path: string): void {
    const source = packSource(path, this.#options.version);
    this.#sources.push(source);
    this.#waiting.add(source);
    // If this is the first pack, 'auto' meant the CPU, and still does.
    this.#now = this.current;
    this.start();
    this.#changed();
  }

  /** Tests every GPU again. */
  test(): void {
    for (const source of this.#sources) this.#waiting.add(source);
    this.start();
    this.#changed();
  }

  /**
   * Runs `load` on the device in the settings and falls back to the CPU if that fails. If a GPU ends the program, the
   * next start switches that GPU off.
   */
  async load<T>(model: string, load: (device: string, onGpu: boolean) => Promise<T>): Promise<T> {
    const device = this.current;
    const source = this.#sourceOf(device);
    if (!source) {
      const why = this.#whyNot();
      if (why) this.#tell(why);
      return load(device, false);
    }
    let failure: Failure;
    try {
      return await this.#file.risking({ source: source.name, device, model }, () => load(device, true));
    } catch (error) {
      if (isAborted(error)) throw error;
      failure = notLoadedFailure(model, device, error);
    }
    const loaded = await load('cpu', false);
    this.#tell(failure);
    return loaded;
  }

  status(): Devices {
    const listed = this.#options.engine.devices();
    const tried = this.#devices();
    return {
      devices: [
        ...listed.map((device) => infoOf(device, tried.get(device.name))),
        ...[...tried.values()]
          .filter(({ name }) => !listed.some((each) => each.name === name))
          .map(unloadedDevice),
      ],
      packs: this.#sources
        .filter((source) => source.name !== BUILT_IN && !this.#tried.get(source)?.devices.length)
        .map((source) => ({ name: source.name, failure: this.#tried.get(source)?.failure ?? null })),
      automatic: this.#automatic(),
      testing: this.#waiting.size > 0,
    };
  }

  close(): Promise<void> {
    return this.#task.close();
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { gate, ask, demoModel } = this.#options;
    for (const source of this.#sources) {
      if (!this.#waiting.has(source)) continue;
      const risk = { source: source.name, device: null, model: null };
      const tried = await gate.background(
        (stopped) => this.#file.risking(risk, () => trySource(ask, source, demoModel, stopped)),
        signal,
      );
      this.#file.save(tried);
      this.#waiting.delete(source);
      const notLoaded = this.#know(source, tried);
      for (const failure of [tried.failure, ...tried.devices.map((each) => each.failure), notLoaded])
        if (failure) this.#tell(failure);
      this.#changed();
    }
  }

  /** Records a source's test results and loads its pack if that is safe; returns the failure if loading failed. */
  #know(source: Source, tried: TriedSource | undefined): Failure | undefined {
    if (!tried) return undefined;
    this.#tried.set(source, tried);
    const { pack, name } = source;
    const works = tried.devices.some(({ failure }) => failure === null);
    if (!works || pack === null || this.packs.includes(pack)) return undefined;
    try {
      this.#file.riskingNow({ source: name, device: null, model: null }, () =>
        this.#options.engine.loadPack(pack),
      );
      this.packs.push(pack);
      return undefined;
    } catch (error) {
      const failure = failureOf(error);
      this.#tried.set(source, { ...tried, failure, devices: [] });
      return failure;
    }
  }

  /** Switches off the device that ended the last run, unless it has changed since. */
  #blame(risk: Risk): void {
    const source = this.#sources.find(({ name }) => name === risk.source);
    if (!source) return;
    const { name, key } = source;
    const failure = endedFailure(risk);
    if (risk.device === null) {
      this.#file.save({ source: name, key, failure, devices: [] });
    } else {
      const known = this.#file.find(name, key);
      if (!known) return;
      const devices = known.devices.map((each) => (each.name === risk.device ? { ...each, failure } : each));
      this.#file.save({ ...known, devices });
    }
    this.#told.add(failure.message);
    this.#options.onFound(failure);
  }

  /** The user chose a device: if it is switched off, it is tested again. */
  #onChosen(device: string): void {
    this.#told.clear();
    const source = this.#sourceOf(device);
    if (source && this.#devices().get(device)?.failure) {
      this.#waiting.add(source);
      this.start();
    }
    this.#changed();
  }

  #changed(): void {
    this.#options.events.emit('devices.changed', {});
    if (this.current === this.#now) return;
    this.#now = this.current;
    for (const listener of [...this.#listeners]) listener();
  }

  #tell(failure: Failure): void {
    if (this.#told.has(failure.message)) return;
    this.#told.add(failure.message);
    this.#options.log.warn('device-not-used', { ...failure });
    this.#options.events.emit('app.notice', { level: 'warning', failure });
  }

  /** Why the device in the settings is not used; undefined if it is, or will be once tested. */
  #whyNot(): Failure | undefined {
    const { device } = this.#options.settings.current;
    if (device === 'auto' || device === 'cpu' || this.#isUsable(device)) return undefined;
    const source = this.#sourceOf(device);
    if (source) return this.#devices().get(device)?.failure ?? undefined;
    return this.#waiting.size > 0 ? undefined : noSuchDeviceFailure(device);
  }

  #isUsable(device: string): boolean {
    const tried = this.#devices().get(device);
    if (tried) return tried.failure === null;
    return this.#options.engine.devices().some((each) => each.name === device && !isGpu(each));
  }

  #sourceOf(device: string): Source | undefined {
    return this.#sources.find((source) =>
      this.#tried.get(source)?.devices.some(({ name }) => name === device),
    );
  }

  #devices(): Map<string, TriedDevice> {
    const all = [...this.#tried.values()].flatMap(({ devices }) => devices);
    return new Map(all.map((each) => [each.name, each]));
  }

  #automatic(): Devices['automatic'] {
    if (this.#sources.length === 0) return { device: 'cpu', why: 'no-gpu' };
    return automaticDevice([...this.#devices().values()], this.#waiting.size > 0);
  }
}

function infoOf(device: Device, tried: TriedDevice | undefined): DeviceInfo {
  if (!tried) return { ...device, ...UNMEASURED, state: isGpu(device) ? 'untested' : 'good' };
  return { ...device, ...tried, state: tried.failure === null ? 'good' : 'off' };
}

/** A device whose pack is not loaded, since none of the pack's devices works. */
function unloadedDevice(tried: TriedDevice): DeviceInfo {
  return { ...tried, kind: 'gpu', memoryFree: 0, memoryTotal: 0, state: 'off' };
}

const UNMEASURED = { failure: null, tokensPerSecond: null, cpuTokensPerSecond: null };
