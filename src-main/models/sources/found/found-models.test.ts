import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { FoundModels as Report } from '../../../../src-shared/contract/found-models.ts';
import type { MemoryFit, ModelEntry } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { GgufInfo } from '../../../engine/engine.ts';
import { EventBus } from '../../../platform/event-bus.ts';
import type { ModelRow } from '../../registry/model-registry.ts';
import { FoundModels } from './found-models.ts';
import type { Place } from './places.ts';

const FITS = { verdict: 'fits' } as MemoryFit;
const HEADER = {
  ...{
    name: '',
    architecture: 'qwen3',
    obstacle: '',
    unsupportedReason: '',
    embedding: false,
    reranker: false,
  },
  ...{ parameterCount: 10, tensorTypes: { q4_K: 9, f32: 3 } },
};

/** Model files are JSON here: the header fields that differ from HEADER. */
function setUp(listed: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-found-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const fingerprinted: string[] = [];
  const events: Report[] = [];
  const added: [string, string][] = [];
  const places: Place[] = [
    { app: 'lm-studio', layout: 'files', path: join(dir, 'lm-studio') },
    { app: 'gpt4all', layout: 'files', path: join(dir, 'gpt4all') },
  ];
  const bus = new EventBus(() => undefined);
  bus.on(({ topic, payload }) => topic === 'models.found' && events.push(payload));
  const found = new FoundModels({
    engine: {
      inspectAside(path) {
        const text = readFileSync(path, 'utf8');
        if (text === '') return Promise.reject(new KvasirError('MODEL_INVALID', `${path} is no model.`));
        return Promise.resolve({
          ...HEADER,
          fileBytes: statSync(path).size,
          ...(JSON.parse(text) as object),
        } as unknown as GgufInfo);
      },
      fingerprint(path) {
        fingerprinted.push(path);
        return Promise.resolve(readFileSync(path, 'utf8'));
      },
    },
    events: bus,
    places: () => Promise.resolve(places),
    known: { fit: () => FITS },
    registry: { byPath: (path) => (path in listed ? ({ id: listed[path] } as ModelRow) : undefined) },
    add: (path, name) => {
      added.push([path, name]);
      return Promise.resolve({ name } as ModelEntry);
    },
  });
  const write = (app: string, name: string, header: object | '' = {}): string => {
    mkdirSync(join(dir, app), { recursive: true });
    const path = join(dir, app, name);
    writeFileSync(path, header === '' ? '' : JSON.stringify(header));
    return path;
  };
  return { dir, found, events, added, fingerprinted, write };
}

test('what is found is told with what its header says, and whose it is', async () => {
  const { found, write } = setUp();
  const path = write('lm-studio', 'qwen.gguf', { obstacle: 'running-state' });
  expect(found.report()).toMatchObject({ state: 'never', models: [] });
  const { state, models } = await found.search();
  expect(state).toBe('done');
  expect(models).toEqual([
    {
      ...{ path, name: 'qwen', app: 'lm-studio', alsoIn: [], hasAdapter: false, failure: null, id: null },
      fileBytes: statSync(path).size,
      header: {
        ...{ role: 'chat', architecture: 'qwen3', obstacle: 'running-state', unsupportedReason: '' },
        ...{ quantization: 'q4_K', parameterCount: 10, fit: FITS },
      },
    },
  ]);
});

test('what can be used comes first, blended and larger models before others, what is broken last', async () => {
  const { found, write } = setUp();
  write('lm-studio', 'broken.gguf', '');
  write('lm-studio', 'reranker.gguf', { reranker: true, unsupportedReason: 'No.' });
  write('lm-studio', 'vectors.gguf', { embedding: true });
  write('lm-studio', 'small.gguf', { parameterCount: 1e9 });
  write('lm-studio', 'large.gguf', { parameterCount: 4e9 });
  write('lm-studio', 'other.gguf', { parameterCount: 8e9, obstacle: 'architecture' });
  const { models } = await found.search();
  expect(models.map(({ name }) => name)).toEqual([
    'large',
    'small',
    'other',
    'vectors',
    'reranker',
    'broken',
  ]);
  expect(models.map(({ header }) => header?.role)).toEqual([
    'chat',
    'chat',
    'chat',
    'embedding',
    'reranker',
    undefined,
  ]);
  expect(models.at(-1)?.failure?.code).toBe('MODEL_INVALID');
});

test('the same model is told once: one file under two names, or two equal files', async () => {
  const { dir, found, write, fingerprinted } = setUp();
  const path = write('lm-studio', 'one.gguf', { parameterCount: 7 });
  write('gpt4all', 'copy.gguf', { parameterCount: 7 });
  linkSync(path, join(dir, 'gpt4all', 'link.gguf'));
  write('gpt4all', 'same-size.gguf', { parameterCount: 8 });
  write('gpt4all', 'another-size.gguf', { parameterCount: 1234 });
  const { models } = await found.search();
  expect(models.map(({ name, alsoIn }) => [name, alsoIn])).toEqual([
    ['another-size', []],
    ['same-size', []],
    ['one', ['gpt4all']],
  ]);
  expect(fingerprinted.some((each) => each.includes('another-size'))).toBe(false);
});

test('of a model in several files the missing one is named', async () => {
  const { found, write } = setUp();
  write('lm-studio', 'big-00002-of-00003.gguf');
  const [model] = (await found.search()).models;
  expect(model).toMatchObject({ name: 'big', header: null });
  expect(model?.failure?.message).toBe(
    'The model big is split into 3 files, and big-00001-of-00003.gguf is missing.',
  );
});

test('a folder that somebody names is looked at first, and must be there', async () => {
  const { dir, found, write } = setUp();
  write('mine', 'own.gguf');
  const { models } = await found.search([join(dir, 'mine')]);
  expect(models.map(({ name, app }) => [name, app])).toEqual([['own', 'folder']]);
  const path = join(dir, 'nowhere');
  await expect(found.search([path])).rejects.toMatchObject({
    code: 'BAD_ARGUMENT',
    message: `Folder not found: ${path}.`,
  });
});

test('one that is used already says so; another is added under the name it was found by', async () => {
  const listed: Record<string, string> = {};
  const { found, write, added } = setUp(listed);
  const path = write('lm-studio', 'qwen.gguf');
  listed[path] = 'id-1';
  expect((await found.search()).models[0]?.id).toBe('id-1');
  expect(await found.add(path)).toMatchObject({ name: 'qwen' });
  expect(added).toEqual([[path, 'qwen']]);
  expect(() => found.add('/etc/passwd')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }) as Error);
});

test('windows are told at the beginning and at the end, and nothing is written', async () => {
  const { dir, found, write, events } = setUp();
  const path = write('lm-studio', 'qwen.gguf');
  const before = [path, join(dir, 'lm-studio')].map((each) => statSync(each).mtimeMs);
  await found.search();
  expect(events[0]?.state).toBe('searching');
  expect(events.at(-1)).toMatchObject({ state: 'done', models: [{ name: 'qwen' }] });
  expect([path, join(dir, 'lm-studio')].map((each) => statSync(each).mtimeMs)).toEqual(before);
});

test('a search that is ended says that it was', async () => {
  const { found, write } = setUp();
  for (let i = 0; i < 20; i++) write('lm-studio', `${i}.gguf`);
  const searching = found.search();
  const ended = expect(searching).rejects.toMatchObject({ code: 'ABORTED' });
  await found.close();
  await ended;
});
