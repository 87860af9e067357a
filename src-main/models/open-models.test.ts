import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AnswerStats } from '../../src-shared/contract/chat.ts';
import type { QueueStatus } from '../../src-shared/contract/libraries.ts';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { SessionDtype } from '../../src-shared/kv-dtype.ts';
import type { Device, Embedder, EmbedderOptions, GgufInfo, Model } from '../engine/engine.ts';
import { Engine } from '../engine/engine.ts';
import { EventBus } from '../platform/event-bus.ts';
import { openDatabase } from '../platform/database.ts';
import { Gate } from '../platform/gate.ts';
import { silentLogger } from '../platform/logger.ts';
import { resolvePaths } from '../platform/paths.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { devicesAsSet } from '../testing/devices.ts';
import { sendFile, serve } from '../testing/download-server.ts';
import { Disposables } from '../platform/disposables.ts';
import { MIGRATIONS } from './registry/model-registry.ts';
import { openModels, type ModelEngine } from './open-models.ts';
import type { TrialRequest } from './loader/trial/protocol.ts';

const GB = 1e9;

/** Model files are JSON here: the header, and the outcome of loading. */
interface FakeFile extends Partial<GgufInfo> {
  fails?: string;
  tryingFails?: string;
}

class FakeModel {
  readonly info: GgufInfo & { fingerprint: string };
  readonly path: string;
  disposed = false;

  constructor(path: string, info: GgufInfo, adapter = '') {
    this.path = path;
    this.info = { ...info, fingerprint: info.name + adapter };
  }
  /** Set to block the first pass. */
  pass: Promise<unknown> | undefined;
  async tryOut(): Promise<void> {
    await this.pass;
  }
  async embed(): Promise<Float32Array[]> {
    await this.pass;
    return [];
  }
  async rank(): Promise<Float32Array> {
    await this.pass;
    return new Float32Array(1);
  }
  dispose(): void {
    this.disposed = true;
  }
}

class FakeEngine implements ModelEngine {
  readonly loaded: FakeModel[] = [];
  readonly loads: { path: string; threads: number | undefined }[] = [];
  readonly loadedOn: (string | undefined)[] = [];
  readonly kvDtypes: (SessionDtype | undefined)[] = [];
  readonly adapters: (string | undefined)[] = [];
  embedderOptions: Partial<EmbedderOptions> = {};
  devicesNow: Device[] = [];
  /** Set to block loading. */
  hold: Promise<undefined> | undefined;
  /** Set to block the first passes of loaded models. */
  holdPass: Promise<unknown> | undefined;

  inspect(path: string): GgufInfo {
    if (!existsSync(path)) throw new KvasirError('MODEL_NOT_FOUND', `There is no model file at ${path}.`);
    let file: FakeFile;
    try {
      file = JSON.parse(readFileSync(path, 'utf8')) as FakeFile;
    } catch {
      throw new KvasirError('MODEL_INVALID', `${path} is not a GGUF file.`);
    }
    const header: Partial<GgufInfo> = {
      ...{ name: 'Some', architecture: 'llama', fileBytes: 1000, parameterCount: 10, layers: 2, kvHeads: 1 },
      ...{ engine: 'blending', obstacle: '', kvValuesPerToken: 128, stateValues: 0, windows: [] },
      ...{
        headDims: [32],
        kvLayers: 2,
        embeddingLength: 32,
        feedForwardLength: 64,
        vocabSize: 100,
        contextTrain: 4096,
      },
      ...{
        tensorTypes: { f32: 9, q8_0: 4, f16: 1 },
        chatTemplate: '',
        unsupportedReason: '',
        embedding: false,
        names: [file.name ?? 'Some'],
        pooling: '',
      },
      ...file,
    };
    return header as GgufInfo;
  }

  inspectAside(path: string): Promise<GgufInfo> {
    return Promise.resolve(this.inspect(path));
  }

  fingerprint(path: string): Promise<string> {
    return Promise.resolve(readFileSync(path, 'utf8'));
  }

  checkAdapter(path: string, model: string): void {
    if (!existsSync(path)) throw new KvasirError('ADAPTER_INVALID', `There is no adapter file at ${path}.`);
    if (this.inspect(path).architecture !== this.inspect(model).architecture)
      throw new KvasirError('ADAPTER_MISMATCH', `The adapter ${path} was made for another model.`);
  }

  async loadModel(
    path: string,
    options: {
      threads?: number;
      device?: string;
      kvDtype?: SessionDtype;
      adapter?: string | undefined;
      onProgress?: (fraction: number) => void;
    },
  ): Promise<Model> {
    if (options.adapter !== undefined) this.checkAdapter(options.adapter, path);
    this.adapters.push(options.adapter);
    this.loads.push({ path, threads: options.threads });
    this.kvDtypes.push(options.kvDtype);
    this.loadedOn.push(options.device);
    options.onProgress?.(0.5);
    await this.hold;
    const info = this.inspect(path) as GgufInfo & FakeFile;
    if (info.fails) throw new KvasirError('MODEL_INVALID', info.fails);
    const model = new FakeModel(path, info, options.adapter);
    model.pass = this.holdPass;
    this.loaded.push(model);
    return model as unknown as Model;
  }

  async loadEmbedder(path: string, options: Partial<EmbedderOptions> = {}): Promise<Embedder> {
    this.embedderOptions = options;
    const info = this.inspect(path) as GgufInfo & FakeFile;
    if (info.fails) throw new KvasirError('MODEL_UNSUPPORTED', info.fails);
    const model = new FakeModel(path, Object.assign(info, { contextTokens: info.contextTrain }));
    model.pass = this.holdPass;
    this.loaded.push(model);
    return model as unknown as Embedder;
  }

  devices(): Device[] {
    return this.devicesNow;
  }
}

interface Setup {
  data?: string;
  /** Loads models on a GPU of this name, which is switched off if the program ends. */
  gpu?: string;
  memory?: { free: number; total: number };
}

function kvasir({ data = tempDir(), memory = { free: 8 * GB, total: 16 * GB }, gpu }: Setup = {}) {
  const engine = new FakeEngine();
  const events = new EventBus();
  const seen: KvasirEvent[] = [];
  events.on((event) => seen.push(event));
  const settings = new SettingsService(join(data, 'settings.json'));
  const devices = devicesAsSet(settings);
  if (gpu !== undefined) {
    devices.packs.push('/packs/gpu.so');
    devices.load = (_, load) => load(gpu, true);
  }
  const demoModel = file(data, 'demo.gguf', { name: 'Demo' });
  const gate = new Gate();
  const released: unknown[] = [];
  const tried: { name: string; role: string }[] = [];
  const triedWith: Pick<TrialRequest, 'device' | 'packs'>[] = [];
  const own = new Disposables(silentLogger);
  const { models, loader, known, downloads } = openModels(
    {
      ...{ engine, events, settings, gate, devices },
      paths: { ...resolvePaths(data), demoModel },
      log: silentLogger,
      tryFile: async ({ path, name, role, device, packs }) => {
        tried.push({ name, role });
        triedWith.push({ device, packs });
        const { tryingFails } = JSON.parse(readFileSync(path, 'utf8')) as FakeFile;
        if (tryingFails) throw new KvasirError('MODEL_INVALID', tryingFails);
      },
      memory: () => memory,
    },
    own,
  );
  loader.beforeDispose((model) => released.push(model.path));
  const start = (): void => {
    downloads.start();
    loader.start();
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= own.close());
  onTestFinished(close);
  const add = (name: string, content: FakeFile = {}) => models.import(file(data, name, { name, ...content }));
  const notices = () =>
    seen.flatMap((event) => (event.topic === 'app.notice' ? [event.payload.failure] : []));
  return {
    models,
    loader,
    known,
    downloads,
    start,
    engine,
    events,
    settings,
    gate,
    data,
    demoModel,
    released,
    tried,
    triedWith,
    seen,
    notices,
    add,
    close,
  };
}

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-models-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function file(dir: string, name: string, content: FakeFile): string {
  const path = join(dir, name);
  if (!existsSync(path)) writeFileSync(path, JSON.stringify(content));
  return path;
}

describe('adapters', () => {
  test('one is put on the model in use, is there after a restart, and is taken off again', async () => {
    const first = kvasir();
    const { id } = await first.add('mine.gguf');
    await first.loader.activate(id);
    const adapter = file(first.data, 'law.gguf', {});
    expect(await first.models.setAdapter(id, adapter)).toMatchObject({
      adapter,
      active: true,
      state: 'ready',
    });
    expect(first.loader.active).toMatchObject({ name: 'mine.gguf + law' });
    const fingerprint = `mine.gguf${adapter}`;
    expect(first.loader.active?.model.info.fingerprint).toBe(fingerprint);
    expect(first.known.get(id).fingerprint).toBe(fingerprint);
    await first.close();
    const second = kvasir({ data: first.data });
    expect((await second.loader.current()).model.info.fingerprint).toBe(fingerprint);
    expect(await second.models.setAdapter(id, null)).toMatchObject({ adapter: null, active: true });
    expect(second.loader.active).toMatchObject({ name: 'mine.gguf' });
    expect(second.engine.adapters).toEqual([adapter, undefined]);
  });

  test('on a model that is not in use nothing is loaded, and its chunks are no longer known', async () => {
    const { models, known, loader, engine, data, add } = kvasir();
    const { id } = await add('mine.gguf');
    await loader.activate(id);
    await loader.activate('demo');
    expect(known.get(id).fingerprint).toBe('mine.gguf');
    const loads = engine.loads.length;
    await models.setAdapter(id, file(data, 'law.gguf', {}));
    expect(engine.loads).toHaveLength(loads);
    expect(known.get(id).fingerprint).toBeNull();
  });

  test('one for another model, none at all, and one for the demo model are refused; all stays as it is', async () => {
    const { models, loader, engine, data, add } = kvasir();
    const { id } = await add('mine.gguf');
    await loader.activate(id);
    const other = file(data, 'other.gguf', { architecture: 'qwen2' });
    await expect(models.setAdapter(id, other)).rejects.toMatchObject({ code: 'ADAPTER_MISMATCH' });
    await expect(models.setAdapter(id, '/absent')).rejects.toMatchObject({ code: 'ADAPTER_INVALID' });
    await expect(models.setAdapter('demo', file(data, 'law.gguf', {}))).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(models.detail(id).model).toMatchObject({ adapter: null, active: true, failure: null });
    expect(engine.loads).toHaveLength(1);
  });

  test('whose file is gone at the next start: the model says so, the demo model answers', async () => {
    const first = kvasir();
    const { id } = await first.add('mine.gguf');
    const adapter = file(first.data, 'law.gguf', {});
    await first.models.setAdapter(id, adapter);
    await first.loader.activate(id);
    await first.close();
    rmSync(adapter);
    const { models, start, loader, notices } = kvasir({ data: first.data });
    start();
    expect((await loader.current()).id).toBe('demo');
    expect(notices().map((failure) => failure.code)).toEqual(['ADAPTER_INVALID']);
    expect(models.detail(id).model).toMatchObject({ adapter, state: 'failed', active: false });
    expect(await models.setAdapter(id, null)).toMatchObject({ adapter: null, state: 'idle', failure: null });
    await loader.activate(id);
    expect(models.get(id)).toMatchObject({ active: true, state: 'ready' });
  });
});

describe('start', () => {
  test('loads the demo model in the background, with the chunks that suit it', async () => {
    const { models, start, loader, engine, demoModel, seen } = kvasir();
    start();
    expect(loader.active).toBeUndefined();
    await expect.poll(() => seen).toContainEqual({ topic: 'models.changed', payload: {} });
    expect(await loader.current()).toMatchObject({ id: 'demo', name: 'Demo', chunkTokens: 96 });
    expect(models.list()).toMatchObject([{ state: 'ready', active: true, quantization: 'q8_0' }]);
    expect(engine.loads).toEqual([{ path: demoModel, threads: 0 }]);
    expect(seen).toContainEqual({ topic: 'models.progress', payload: { id: 'demo', fraction: 0.5 } });
  });

  test('current() waits for the one load that is under way', async () => {
    const { loader, engine } = kvasir();
    const [a, b] = await Promise.all([loader.current(), loader.current()]);
    expect(a).toBe(b);
    expect(engine.loads).toHaveLength(1);
  });

  test('a name that was given is kept, also for the model in use; an empty one brings back the file’s', async () => {
    const first = kvasir();
    const { id } = await first.add('mine.gguf');
    await first.loader.activate(id);
    expect(first.models.rename(id, 'Small one')).toMatchObject({ name: 'Small one', active: true });
    expect(first.loader.active?.name).toBe('Small one');
    await first.close();
    const second = kvasir({ data: first.data });
    expect(second.models.detail(id).model.name).toBe('Small one');
    expect(second.models.rename(id, '').name).toBe('mine.gguf');
    expect(() => second.models.rename('unknown', 'x')).toThrow(/Model not found/);
  });

  test('the model of the settings is loaded again after a restart', async () => {
    const first = kvasir();
    const { id } = await first.add('mine.gguf');
    await first.loader.activate(id);
    await first.close();
    const second = kvasir({ data: first.data });
    expect(await second.loader.current()).toMatchObject({ id, name: 'mine.gguf', chunkTokens: 512 });
  });

  test.each<[string, (path: string) => void, string, string]>([
    ['gone', (path) => rmSync(path), 'MODEL_NOT_FOUND', 'failed'],
    ['damaged', (path) => writeFileSync(path, 'no JSON'), 'MODEL_INVALID', 'failed'],
    [
      'too large',
      (path) => writeFileSync(path, JSON.stringify({ name: 'mine', fileBytes: 99 * GB })),
      'MODEL_TOO_LARGE',
      'failed',
    ],
  ])(
    'a model that is %s leaves its failure on its entry, and the demo model answers',
    async (_name, spoil, code, state) => {
      const first = kvasir();
      const { id, path } = await first.add('mine.gguf');
      await first.loader.activate(id);
      await first.close();
      spoil(path);
      const { models, start, loader, notices, settings } = kvasir({ data: first.data });
      models.list(); // reads headers of changed files
      start();
      expect((await loader.current()).id).toBe('demo');
      expect(models.list().find((entry) => entry.id === id)).toMatchObject({
        state,
        failure: { code },
        active: false,
      });
      expect(notices().map((failure) => failure.code)).toEqual([code]);
      expect(settings.current.chatModel).toBe(id); // a drive that is plugged in again restores it
    },
  );

  test('a model that ended the program while it was loaded is not loaded by itself again', async () => {
    const first = kvasir();
    const { id } = await first.add('mine.gguf');
    await first.loader.activate(id);
    await first.close();
    const second = kvasir({ data: first.data });
    const held = Promise.withResolvers<undefined>();
    onTestFinished(() => held.resolve(undefined)); // so that it can be closed later
    second.engine.hold = held.promise;
    second.start();
    await expect.poll(() => second.engine.loads).toHaveLength(1);
    // The program is killed here: nothing is closed.
    const third = kvasir({ data: first.data });
    third.start();
    expect((await third.loader.current()).id).toBe('demo');
    expect(third.notices()[0]?.message).toMatch(/crashed while loading mine.gguf/);
    await third.loader.activate(id);
    expect(third.models.get(id).state).toBe('ready');
  });

  test('a model that ended the program on a GPU is not left out: the GPU is held to account', async () => {
    const first = kvasir();
    const { id } = await first.add('mine.gguf');
    await first.loader.activate(id);
    await first.close();
    const second = kvasir({ data: first.data, gpu: 'Vulkan0' });
    const held = Promise.withResolvers<undefined>();
    onTestFinished(() => held.resolve(undefined));
    second.engine.hold = held.promise;
    second.start();
    await expect.poll(() => second.engine.loadedOn).toEqual(['Vulkan0']);
    // The program is killed here: nothing is closed.
    const third = kvasir({ data: first.data });
    third.start();
    expect((await third.loader.current()).id).toBe(id);
  });

  test.each([
    ['model that answers', { embedding: false }],
    ['embedding model', { embedding: true }],
  ])('a %s that ended the program in its first pass is not loaded by itself again', async (_, header) => {
    const first = kvasir();
    const { id } = await first.add('mine.gguf', header);
    await first.loader.activate(id);
    await first.close();
    const second = kvasir({ data: first.data });
    const held = Promise.withResolvers<undefined>();
    onTestFinished(() => held.resolve(undefined));
    second.engine.holdPass = held.promise;
    second.start();
    await expect
      .poll(() => second.engine.loaded.map(({ path }) => path))
      .toContainEqual(expect.stringMatching(/mine\.gguf$/));
    // The program is killed here: nothing is closed.
    const third = kvasir({ data: first.data });
    third.start();
    expect((await third.loader.current()).id).toBe('demo');
    expect(third.loader.embedder).toBeUndefined();
    expect(third.notices()[0]?.message).toMatch(/crashed while loading mine.gguf/);
    await third.loader.activate(id);
    expect(third.models.get(id).state).toBe('ready');
  });

  test('a model whose first pass fails is not used, and its memory is given back', async () => {
    const { loader, engine, add } = kvasir();
    const { id } = await add('mine.gguf');
    engine.holdPass = Promise.reject(new KvasirError('MODEL_NUMBERS', 'no numbers'));
    await expect(loader.activate(id)).rejects.toMatchObject({ code: 'MODEL_NUMBERS' });
    expect(engine.loaded.at(-1)?.disposed).toBe(true);
  });

  test('a file that libllama runs is tried apart before it is first used, and again once it has changed', async () => {
    const { loader, tried, add } = kvasir();
    const { id, path } = await add('mine.gguf', { engine: 'llama' });
    await loader.activate(id);
    await loader.activate('demo');
    await loader.activate(id);
    expect(tried).toEqual([{ name: 'mine.gguf', role: 'chat' }]); // our engine checks its own files
    utimesSync(path, 1, 1);
    await loader.activate(id);
    expect(tried).toHaveLength(2);
  });

  test('one that fails its trial is never loaded, and is tried again when it is asked for again', async () => {
    const { models, loader, engine, tried, add } = kvasir();
    const { id, path } = await add('mine.gguf', { engine: 'llama', tryingFails: 'It ended.' });
    await loader.current();
    for (let i = 0; i < 2; i++)
      await expect(loader.activate(id)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
    expect(tried).toHaveLength(2);
    expect(engine.loads.map((load) => load.path)).not.toContain(path);
    expect(loader.active?.id).toBe('demo');
    expect(models.list()[1]).toMatchObject({ state: 'failed', failure: { message: 'It ended.' } });
  });

  test('without any model current() says why, and tries again when asked again', async () => {
    const { loader, demoModel } = kvasir();
    const good = readFileSync(demoModel);
    writeFileSync(demoModel, JSON.stringify({ fails: 'broken' }));
    await expect(loader.current()).rejects.toMatchObject({ code: 'MODEL_INVALID', message: 'broken' });
    writeFileSync(demoModel, good);
    expect((await loader.current()).id).toBe('demo');
  });
});

describe('another model', () => {
  test('takes the place of the old one, which is released and disposed, and listeners hear of it', async () => {
    const { models, loader, engine, demoModel, released, settings, add } = kvasir();
    const heard: string[] = [];
    loader.onChange(({ id, chunkTokens }) => heard.push(`${id} ${chunkTokens}`));
    await loader.current();
    const { id } = await add('mine.gguf');
    await loader.activate(id);
    expect(models.get(id)).toMatchObject({ state: 'ready', active: true });
    expect(heard).toEqual(['demo 96', `${id} 512`]);
    expect(released).toEqual([demoModel]);
    expect(engine.loaded[0]?.disposed).toBe(true);
    expect(settings.current.chatModel).toBe(id);
    settings.update({ chunkTokens: 64 });
    expect(heard.at(-1)).toBe(`${id} 64`);
    expect(loader.active?.model).toBe(engine.loaded[1]);
  });

  test('waits for the answer that is being given with the old one', async () => {
    const { loader, engine, gate, add } = kvasir();
    await loader.current();
    const { id } = await add('mine.gguf');
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const answer = gate.foreground(() => promise);
    const activated = loader.activate(id);
    await expect.poll(() => engine.loaded).toHaveLength(2);
    expect((await loader.current()).id).toBe('demo');
    expect(engine.loaded[0]?.disposed).toBe(false);
    resolve(undefined);
    await Promise.all([answer, activated]);
    expect(engine.loaded[0]?.disposed).toBe(true);
  });

  test('that cannot be loaded leaves the old one in use', async () => {
    const { models, loader, add, settings } = kvasir();
    await loader.current();
    const { id } = await add('bad.gguf', { fails: 'truncated' });
    await expect(loader.activate(id)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
    expect(loader.active?.id).toBe('demo');
    expect(settings.current.chatModel).toBeUndefined();
    expect(models.list()[1]).toMatchObject({ state: 'failed', failure: { message: 'truncated' } });
  });

  test('that has no room beside the old one is loaded after it; the old one comes back when that fails', async () => {
    const { loader, engine, add } = kvasir();
    await loader.current();
    const large = await add('large.gguf', { fileBytes: 9 * GB });
    expect(large.fit.verdict).toBe('tight');
    const bad = await add('bad.gguf', { fileBytes: 9 * GB, fails: 'no' });
    await expect(loader.activate(bad.id)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
    expect(loader.active?.id).toBe('demo');
    expect(engine.loaded.map(({ disposed }) => disposed)).toEqual([true, false]);
    await loader.activate(large.id);
    expect(engine.loaded.map(({ disposed }) => disposed)).toEqual([true, true, false]);
  });

  test.each([
    ['model that answers', { embedding: false }],
    ['embedding model', { embedding: true }],
  ])('the %s in use is loaded again when it is activated again', async (_, header) => {
    const { models, loader, engine, add } = kvasir();
    const { id, path } = await add('mine.gguf', header);
    await loader.activate(id);
    writeFileSync(path, JSON.stringify({ name: 'Newer', ...header }));
    utimesSync(path, 1, 1);
    models.rename(id, 'Mine');
    await loader.activate(id);
    expect(models.get(id)).toMatchObject({ name: 'Mine', state: 'ready', active: true });
    expect(engine.loaded.map(({ info, disposed }) => ({ name: info.name, disposed }))).toEqual([
      { name: 'mine.gguf', disposed: true },
      { name: 'Newer', disposed: false },
    ]);
  });

  test('is loaded again with other threads', async () => {
    const { loader, engine, settings } = kvasir();
    await loader.current();
    const threads = availableParallelism();
    settings.update({ threads });
    await expect.poll(() => engine.loads).toHaveLength(2);
    expect(engine.loads[1]?.threads).toBe(threads);
    await expect.poll(() => engine.loaded[0]?.disposed).toBe(true);
  });

  test('is loaded again to keep conversations in another precision', async () => {
    const { loader, engine, settings } = kvasir();
    await loader.current();
    settings.update({ conversationDtype: 'q8_0' });
    await expect.poll(() => engine.kvDtypes).toEqual(['f16', 'q8_0']);
    await expect.poll(() => engine.loaded[0]?.disposed).toBe(true);
  });
});

describe('the list', () => {
  test('a GGUF is added where it lies, or copied; the same one is not added twice', async () => {
    const { models, add, data } = kvasir();
    const there = await add('mine.gguf');
    expect(there.path).toBe(join(data, 'mine.gguf'));
    expect((await models.import(there.path)).id).toBe(there.id);
    const copied = await models.import(there.path, { copy: true });
    expect(copied.path).toBe(join(data, 'models', 'mine.gguf'));
    const again = await models.import(there.path, { copy: true });
    expect(again.path).toBe(join(data, 'models', 'mine (2).gguf'));
    expect(models.list()).toHaveLength(4);
  });

  test('a GGUF that another program has keeps its name there, and stays when it is removed', async () => {
    const { models, data } = kvasir();
    const blob = file(data, 'sha256-ab', { name: '' });
    const { id, name, path } = await models.import(blob, { name: 'qwen3:4b' });
    expect([name, path]).toEqual(['qwen3:4b', blob]);
    models.rename(id, 'Mine');
    expect(await models.import(blob, { name: 'qwen3:4b' })).toMatchObject({ id, name: 'Mine' });
    await models.remove(id);
    expect([models.list().length, existsSync(blob)]).toEqual([1, true]);
  });

  test('a model in several files is known where they lie, read again when any changes, and not copied', async () => {
    const { models, data } = kvasir();
    mkdirSync(join(data, 'blobs'));
    mkdirSync(join(data, 'snapshot'));
    const parts = ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'].map((name, i) => {
      symlinkSync(file(data, join('blobs', `${i}`), { name: 'Old' }), join(data, 'snapshot', name));
      return join(data, 'snapshot', name);
    });
    const { id, path } = await models.import(parts[0]!);
    expect(path).toBe(parts[0]);
    writeFileSync(parts[0]!, JSON.stringify({ name: 'New' }));
    utimesSync(parts[1]!, 1, 2e9);
    expect(models.list()[1]).toMatchObject({ id, name: 'New' });
    await expect(models.import(path, { copy: true })).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test.each([
    ['no.gguf', 'MODEL_NOT_FOUND'],
    ['bad.gguf', 'MODEL_INVALID'],
  ])('%s is refused and leaves nothing', async (name, code) => {
    const { models, data } = kvasir();
    writeFileSync(join(data, 'bad.gguf'), 'x');
    await expect(models.import(join(data, name), { copy: true })).rejects.toMatchObject({ code });
    expect(models.list()).toHaveLength(1);
    expect(existsSync(join(data, 'models'))).toBe(false);
  });

  test('removing deletes only what Kvasir put there, and never the demo model', async () => {
    const { models, loader, add } = kvasir();
    const mine = await add('mine.gguf');
    const copied = await models.import(mine.path, { copy: true });
    await loader.activate(copied.id);
    await models.remove(copied.id);
    await models.remove(mine.id);
    expect([existsSync(copied.path), existsSync(mine.path)]).toEqual([false, true]);
    expect(loader.active?.id).toBe('demo');
    await expect(models.remove('demo')).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(models.remove(mine.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(() => models.detail('x')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  test("a model in Kvasir's folder that the list lost is added again, anything else there stays", async () => {
    const { models, data } = kvasir();
    const folder = join(data, 'models');
    mkdirSync(folder, { recursive: true });
    for (const name of ['left.gguf', 'left.gguf.part', 'notes.txt'])
      writeFileSync(join(folder, name), JSON.stringify({ name: 'Left' }));
    for (let i = 0; i < 2; i++) await models.adopt();
    expect(
      models
        .list()
        .map(({ name, path }) => [name, path])
        .slice(1),
    ).toEqual([['Left', join(folder, 'left.gguf')]]);
    expect(readdirSync(folder)).toHaveLength(3);
  });

  test('a model folder that cannot be listed does not end the start', async () => {
    const { models, data } = kvasir();
    writeFileSync(join(data, 'models'), 'a file');
    await expect(models.adopt()).resolves.toBeUndefined();
  });

  test('a file that is gone is missing; one that was replaced is read again', async () => {
    const { models, add } = kvasir();
    const { id, path } = await add('mine.gguf');
    rmSync(path);
    expect(models.list()[1]).toMatchObject({ id, state: 'missing', name: 'mine.gguf' });
    writeFileSync(path, JSON.stringify({ name: 'Newer' }));
    expect(models.list()[1]).toMatchObject({ id, state: 'idle', name: 'Newer' });
    expect(models.detail(id).header).toContainEqual({ label: 'Name', value: 'Newer' });
  });

  test('how fast the model in use precomputes is kept from what the queue tells', async () => {
    const { loader, known, events } = kvasir();
    await loader.current();
    const status: QueueStatus = {
      ...{ paused: false, waiting: 0, active: 1, failed: 0, done: 0, total: 1, current: null },
      ...{ tokensDone: 0, tokensTotal: 9, tokensPerSecond: 0, secondsLeft: null, blocked: null },
      tokensLeftOut: 0,
    };
    const kept = [0, 100, 105, 200].map((tokensPerSecond) => {
      events.emit('queue.status', { ...status, tokensPerSecond });
      return known.get('demo').tokensPerSecond;
    });
    expect(kept).toEqual([null, 100, 100, 200]); // small changes are not worth a write
  });
});

test('how fast the model in use writes is kept from answers that are long enough to tell', async () => {
  const { loader, known, events } = kvasir();
  await loader.current();
  const kept = [4, 64, 70].map((answerTokens) => {
    const stats = { answerTokens, tokensPerSecond: answerTokens } as AnswerStats;
    const answer = { conversationId: 'c', answerId: 'a', state: 'done', failure: null } as const;
    events.emit('chat.done', { ...answer, stats, hasReport: false });
    return known.get('demo').writtenPerSecond;
  });
  expect(kept).toEqual([null, 64, 64]);
});

test('a download becomes a model in the list; one that is no model does not', async () => {
  const { models, downloads } = kvasir();
  const server = await serve((request, response) =>
    sendFile(Buffer.from(request.url === '/bad' ? 'x' : '{"name":"From afar"}'), request, response),
  );
  await downloads.add({ url: server.url, name: '', sha256: '' });
  await downloads.add({ url: new URL('/bad', server.url).href, name: '', sha256: '' });
  await expect.poll(() => downloads.list().map(({ state }) => state)).toEqual(['done', 'failed']);
  expect(downloads.list()[1]?.failure?.code).toBe('MODEL_INVALID');
  const [, entry] = models.list();
  expect(entry).toMatchObject({ name: 'From afar', origin: 'downloaded', state: 'idle' });
  await models.remove(entry!.id);
  expect(existsSync(entry!.path)).toBe(false);
});

describe('an embedding model', () => {
  test('is used beside the chat model, and can be left', async () => {
    const { models, loader, engine, settings, add } = kvasir();
    await loader.current();
    const heard: (string | undefined)[] = [];
    loader.onEmbedderChange((active) => heard.push(active?.id));
    const { id, role } = await add('embed.gguf', {
      embedding: true,
      architecture: 'bert',
      unsupportedReason: 'chat',
    });
    expect(role).toBe('embedding');
    await loader.activate(id);
    expect(models.get(id)).toMatchObject({ active: true, state: 'ready', unsupportedReason: '' });
    expect(loader.active?.id).toBe('demo');
    expect(settings.current.embeddingModel).toBe(id);
    const { identity } = loader.embedder!;
    await loader.deactivate(id);
    expect([loader.embedder, settings.current.embeddingModel]).toEqual([undefined, undefined]);
    expect(engine.loaded.at(-1)?.disposed).toBe(true);
    await loader.activate(id);
    expect(loader.embedder?.identity).toBe(identity);
    expect(heard).toEqual([id, undefined, id]);
    await expect(loader.deactivate('demo')).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test("follows its family's rules, which are part of its vectors' identity", async () => {
    const { models, loader, engine, add } = kvasir();
    const { id } = await add('qwen.gguf', {
      ...{ embedding: true, name: 'Qwen3 Embedding 0.6B', architecture: 'qwen3', contextTrain: 40_960 },
    });
    await loader.activate(id);
    const { rules, identity } = loader.embedder!;
    expect(rules.question).toMatch(/^Instruct: Given a web search query, .*\nQuery:$/);
    expect(engine.embedderOptions).toMatchObject({ end: '<|endoftext|>', pooling: 'last', tokens: 32_768 });
    expect(models.get(id).embedding).toMatchObject({
      ...{ source: 'card', card: 'https://huggingface.co/Qwen/Qwen3-Embedding-0.6B', tokens: 32_768 },
    });
    const plain = await add('other.gguf', { embedding: true, name: 'Other', architecture: 'qwen3' });
    await loader.activate(plain.id);
    expect(loader.embedder!.identity).toMatch(/^[0-9a-f]{64}$/);
    expect(identity).toMatch(/^[0-9a-f]{64}\["","<\|endoftext\|>","last",32768\]$/);
  });

  test('in a list of an older version makes the same vectors once its header is read again', async () => {
    const { loader, data, close, add } = kvasir();
    const { id } = await add('bge-m3.gguf', { embedding: true, architecture: 'bert', pooling: 'cls' });
    await loader.activate(id);
    const { identity } = loader.embedder!;
    await close();
    const list = openDatabase(join(data, 'models.sqlite'), MIGRATIONS);
    list.run(
      `UPDATE model SET mtime_ms = -1, header = json_set(header, '$.names', json('[]'), '$.pooling', '')`,
    );
    list.close();
    const again = kvasir({ data });
    await again.loader.useEmbedder();
    expect(again.loader.embedder!.identity).toBe(identity);
  });

  test('nobody knows gets the prefixes that the user types; another one for passages makes other vectors', async () => {
    const { models, loader, data, close, add } = kvasir();
    const { id } = await add('mine.gguf', { embedding: true });
    expect(models.get(id).embedding).toMatchObject({
      source: 'unknown',
      card: null,
      question: '',
      passage: '',
    });
    await loader.activate(id);
    const { identity } = loader.embedder!;
    await models.setPrefixes(id, { question: 'ask: ', passage: '' });
    expect(loader.embedder).toMatchObject({ identity, rules: { question: 'ask: ' } });
    const entry = await models.setPrefixes(id, { question: 'ask: ', passage: 'text: ' });
    expect(entry.embedding).toMatchObject({ source: 'user', question: 'ask: ', passage: 'text: ' });
    const changed = loader.embedder!.identity;
    expect(changed).not.toBe(identity);
    await close();
    const again = kvasir({ data });
    await again.loader.useEmbedder();
    expect(again.loader.embedder!.identity).toBe(changed);
    await again.models.setPrefixes(id, null);
    expect(again.loader.embedder!.identity).toBe(identity);
    const refused = again.models.setPrefixes('demo', null);
    await expect(refused).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
  });

  test('that cannot be loaded is told, and search goes on without', async () => {
    const { models, loader, add } = kvasir();
    const { id } = await add('embed.gguf', { embedding: true, fails: 'a reranker' });
    await expect(loader.activate(id)).rejects.toMatchObject({ code: 'MODEL_UNSUPPORTED' });
    expect(loader.embedder).toBeUndefined();
    expect(models.list()[1]).toMatchObject({ state: 'failed', failure: { message: 'a reranker' } });
  });
});

test('a reranker is used beside the chat model and the embedding model, and can be left', async () => {
  const { models, loader, settings, add } = kvasir();
  const { id: embedder } = await add('embed.gguf', { embedding: true });
  const { id, role } = await add('rerank.gguf', { reranker: true, unsupportedReason: 'chat' });
  expect(role).toBe('reranker');
  await loader.activate(embedder);
  await loader.activate(id);
  expect(models.get(id)).toMatchObject({ active: true, state: 'ready', unsupportedReason: '' });
  expect([loader.reranker?.id, loader.embedder?.id]).toEqual([id, embedder]);
  expect(settings.current.rerankModel).toBe(id);
  await models.remove(id);
  expect([loader.reranker, settings.current.rerankModel]).toEqual([undefined, undefined]);
  expect(loader.embedder?.id).toBe(embedder);
});

describe('whether a model fits', () => {
  const gpu = (memoryFree: number): Device => ({
    ...{ name: 'GPU0', description: 'a GPU', kind: 'gpu', memoryFree, memoryTotal: 24 * GB },
  });

  test.each<[number, Device[], string, string, string]>([
    [1 * GB, [], 'auto', 'CPU', 'fits'],
    [9 * GB, [], 'auto', 'CPU', 'tight'],
    [15 * GB, [], 'auto', 'CPU', 'too-large'],
    [9 * GB, [gpu(20 * GB)], 'auto', 'GPU0', 'fits'],
    [9 * GB, [gpu(4 * GB)], 'auto', 'GPU0', 'tight'],
    [30 * GB, [gpu(4 * GB)], 'auto', 'GPU0', 'too-large'],
    [9 * GB, [gpu(20 * GB)], 'cpu', 'CPU', 'tight'],
    [9 * GB, [gpu(20 * GB)], 'GPU0', 'GPU0', 'fits'],
  ])('%i bytes with %j and device %s', async (fileBytes, devices, device, on, verdict) => {
    const { engine, settings, add } = kvasir();
    engine.devicesNow = devices;
    settings.update({ device });
    const { fit } = await add('mine.gguf', { fileBytes });
    expect([fit.device, fit.verdict]).toEqual([on, verdict]);
    expect(fit.weightsBytes).toBe(fileBytes);
    expect(fit.kvBytes).toBe(4096 * 2 * 2 * 32 * 2); // tokens × K and V × layers × values × f16
  });

  test('counts KV as conversations keep it: in q8_0 where its blocks of 32 divide a head', async () => {
    const { settings, add, models } = kvasir();
    const odd = { headDims: [80], kvValuesPerToken: 2 * 2 * 80 };
    const added = [await add('mine.gguf', {}), await add('odd.gguf', odd)];
    const fitOf = (id: string) => models.list().find((each) => each.id === id)?.fit;
    const kv = () => added.map(({ id }) => (fitOf(id)?.kvBytes ?? 0) / (4096 * 2 * 2));
    expect(kv()).toEqual([32 * 2, 80 * 2]);
    settings.update({ conversationDtype: 'q8_0' });
    expect(kv()).toEqual([34, 80 * 2]);
  });
});

test('a file says what it would be before it is in the list', () => {
  const { models, data } = kvasir();
  const path = file(data, 'state.gguf', { name: 'Running', engine: 'llama', obstacle: 'running-state' });
  expect(models.inspect(path)).toEqual({
    name: 'Running',
    role: 'chat',
    architecture: 'llama',
    obstacle: 'running-state',
    unsupportedReason: '',
    baseModel: true,
  });
  expect(models.list()).toHaveLength(1);
  expect(() => models.inspect('/nowhere.gguf')).toThrow(/no model file/);
});

test('models in use are loaded again when another device is taken', async () => {
  const { loader, engine, settings, add } = kvasir();
  await loader.current();
  const { id } = await add('vectors.gguf', { embedding: true });
  await loader.activate(id);
  settings.update({ device: 'Vulkan0' });
  await expect.poll(() => engine.loadedOn).toEqual(['auto', 'Vulkan0']);
  await expect.poll(() => engine.loaded.map(({ path }) => path.split('/').at(-1))).toHaveLength(4);
});

test('a file that libllama runs is tried on the device that it is for, with its pack', async () => {
  const { loader, triedWith, add } = kvasir({ gpu: 'Vulkan0' });
  const { id } = await add('llama.gguf', { engine: 'llama' });
  await loader.activate(id);
  expect(triedWith).toEqual([{ device: 'Vulkan0', packs: ['/packs/gpu.so'] }]);
});

test('with the real engine: the demo model answers, a truncated copy is refused', async () => {
  const data = tempDir();
  const paths = resolvePaths(data);
  const { demoModel } = paths;
  const settings = new SettingsService(join(data, 'settings.json'));
  const own = new Disposables(silentLogger);
  const { models, loader } = openModels(
    {
      engine: Engine.open(),
      devices: devicesAsSet(settings),
      paths,
      settings,
      events: new EventBus(),
      gate: new Gate(),
      log: silentLogger,
    },
    own,
  );
  onTestFinished(() => own.close());
  expect((await loader.current()).model.info.architecture).toBe('llama');
  expect(models.list()[0]).toMatchObject({
    role: 'chat',
    fileBytes: statSync(demoModel).size,
    state: 'ready',
  });
  mkdirSync(join(data, 'models'));
  const cut = join(data, 'models', 'cut.gguf');
  writeFileSync(cut, readFileSync(demoModel).subarray(0, 1_000_000));
  await expect(models.import(cut)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
});
