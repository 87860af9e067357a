import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { candidatesIn } from './layouts.ts';
import type { Layout } from './places.ts';
import { Walk } from './walk.ts';

const HEX = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);

function folder(files: Record<string, unknown>): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-layouts-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return dir;
}

const walking = (limits = {}): Walk => new Walk({ signal: new AbortController().signal, limits });

/** Name → relative path of each model found. */
async function found(dir: string, layout: Layout, walk = walking()): Promise<Record<string, string>> {
  const names: Record<string, string> = {};
  for await (const { name, path } of candidatesIn({ app: 'folder', layout, path: dir }, walk)) {
    names[name] = path.startsWith(dir) ? path.slice(dir.length + 1) : path;
  }
  return names;
}

const layer = (kind: string, hex: string) => ({
  mediaType: `application/vnd.ollama.image.${kind}`,
  digest: `sha256:${hex}`,
});

describe('folders of files (LM Studio, GPT4All, llama.cpp)', () => {
  test('GGUF files are found at any depth, whatever the case of their ending', async () => {
    const dir = folder({
      'qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf': '',
      'LOUD.GGUF': '',
      'readme.md': '',
      'half.gguf.downloadInProgress': '',
    });
    expect(await found(dir, 'files')).toEqual({
      'Qwen3-4B-Q4_K_M': join('qwen', 'Qwen3-4B-GGUF', 'Qwen3-4B-Q4_K_M.gguf'),
      LOUD: 'LOUD.GGUF',
    });
  });

  test('projectors are left out', async () => {
    const dir = folder({ 'a/mmproj-model-f16.gguf': '', 'a/Gemma-mmproj-BF16.gguf': '', 'a/gemma.gguf': '' });
    expect(Object.keys(await found(dir, 'files'))).toEqual(['gemma']);
  });

  test('a model in several files is told by its first, also where that is missing', async () => {
    const dir = folder({
      'a-00001-of-00002.gguf': '',
      'a-00002-of-00002.gguf': '',
      'b-00002-of-00003.gguf': '',
    });
    expect(await found(dir, 'files')).toEqual({ a: 'a-00001-of-00002.gguf', b: 'b-00001-of-00003.gguf' });
  });

  test('links are followed, and a loop ends', async () => {
    const dir = folder({ 'a/model.gguf': '' });
    symlinkSync(dir, join(dir, 'a', 'loop'));
    symlinkSync(join(dir, 'nowhere'), join(dir, 'broken'));
    expect(Object.keys(await found(dir, 'files'))).toEqual(['model']);
  });

  test('what is not there, or is no folder, has no models', async () => {
    const dir = folder({ file: '' });
    expect(await found(join(dir, 'nothing'), 'files')).toEqual({});
    expect(await found(join(dir, 'file'), 'files')).toEqual({});
  });

  test('a search has limits, and says when they were met', async () => {
    const many = folder(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.gguf`, ''])));
    const few = walking({ entries: 10 });
    expect(Object.keys(await found(many, 'files', few))).toHaveLength(10);
    expect(few.cutShort).toBe(true);
    const deep = folder({ 'a/b/c/d.gguf': '', 'a/near.gguf': '' });
    const shallow = walking({ depth: 1 });
    expect(Object.keys(await found(deep, 'files', shallow))).toEqual(['near']);
    expect(shallow.cutShort).toBe(false);
  });
});

describe("Ollama's store", () => {
  const manifest = (...layers: object[]) => ({ schemaVersion: 2, config: layer('json', OTHER), layers });

  test('models are named as Ollama lists them, and projectors and adapters are no models', async () => {
    const weights = layer('model', HEX);
    const dir = folder({
      'manifests/registry.ollama.ai/library/qwen3/4b': manifest(layer('template', OTHER), weights),
      'manifests/registry.ollama.ai/ada/mine/latest': manifest(weights, layer('adapter', OTHER)),
      'manifests/hf.co/unsloth/gemma-GGUF/Q4_K_M': manifest(layer('projector', OTHER), weights),
      'manifests/registry.ollama.ai/library/embedder/v1': manifest(layer('projector', OTHER)),
    });
    const blob = join('blobs', `sha256-${HEX}`);
    expect(await found(dir, 'ollama')).toEqual({
      'qwen3:4b': blob,
      'ada/mine:latest': blob,
      'hf.co/unsloth/gemma-GGUF:Q4_K_M': blob,
    });
    const adapted = [];
    for await (const each of candidatesIn({ app: 'ollama', layout: 'ollama', path: dir }, walking())) {
      if (each.hasAdapter) adapted.push(each.name);
    }
    expect(adapted).toEqual(['ada/mine:latest']);
  });

  test('lists of manifests are looked into, written out or as blobs', async () => {
    const list = { mediaType: 'application/vnd.ollama.manifest.list.v2+json' };
    const dir = folder({
      'manifests-v2/ollama.com/library/inline/1b': {
        ...list,
        manifests: [manifest(layer('tensor', OTHER)), manifest(layer('model', HEX))],
      },
      'manifests-v2/ollama.com/library/apart/1b': {
        ...list,
        manifests: [{ digest: `sha256:${OTHER}`, runner: 'ollama' }],
      },
      [`blobs/sha256-${OTHER}`]: manifest(layer('model', HEX)),
    });
    expect(Object.keys(await found(dir, 'ollama')).sort()).toEqual(['apart:1b', 'inline:1b']);
  });

  test('a manifest that lies leads nowhere else', async () => {
    const dir = folder({
      'manifests/registry.ollama.ai/library/evil/1': manifest({
        ...layer('model', HEX),
        digest: 'sha256:../../../etc/passwd',
      }),
      'manifests/registry.ollama.ai/library/broken/1': '{"layers": 7',
      'manifests/registry.ollama.ai/library/numbers/1': { layers: [{ mediaType: 1 }] },
      'manifests/.DS_Store': 'x',
    });
    expect(await found(dir, 'ollama')).toEqual({});
  });
});

describe("Hugging Face's cache", () => {
  test('snapshots are named by repository and file', async () => {
    const dir = folder({
      [`models--unsloth--Qwen3-4B-GGUF/blobs/${HEX}`]: 'x',
      'models--gpt2/snapshots/r1/gpt2.gguf': '',
    });
    const snapshot = join(dir, 'models--unsloth--Qwen3-4B-GGUF', 'snapshots', 'r1', 'UD');
    mkdirSync(snapshot, { recursive: true });
    symlinkSync(join('..', '..', '..', 'blobs', HEX), join(snapshot, 'Qwen3-4B-Q4_K_M.gguf'));
    expect(await found(dir, 'hub')).toEqual({
      'unsloth/Qwen3-4B-GGUF/UD/Qwen3-4B-Q4_K_M': join(
        'models--unsloth--Qwen3-4B-GGUF/snapshots/r1/UD/Qwen3-4B-Q4_K_M.gguf',
      ),
      'gpt2/gpt2': join('models--gpt2/snapshots/r1/gpt2.gguf'),
    });
  });
});

describe("Jan's data folder", () => {
  test('models have the name and the file that model.yml says', async () => {
    const dir = folder({
      'llamacpp/models/janhq/Jan-v1-4B/model.gguf': '',
      'llamacpp/models/janhq/Jan-v1-4B/mmproj.gguf': '',
      'llamacpp/models/janhq/Jan-v1-4B/model.yml':
        'model_path: llamacpp/models/janhq/Jan-v1-4B/model.gguf\nname: "Jan v1 4B"\nsize_bytes: 5\nmmproj_path: llamacpp/models/janhq/Jan-v1-4B/mmproj.gguf\n',
      'llamacpp/models/mine/model.yml': 'name: mine\nmodel_path: /elsewhere/mine.gguf\n',
      'models/huggingface.co/a/b/old.gguf': '',
    });
    expect(await found(dir, 'jan')).toEqual({
      'Jan v1 4B': join('llamacpp/models/janhq/Jan-v1-4B/model.gguf'),
      mine: join('/elsewhere/mine.gguf'),
      old: join('models/huggingface.co/a/b/old.gguf'),
    });
  });
});

test('a folder that somebody names may be any of these', async () => {
  const dir = folder({
    'models/manifests/registry.ollama.ai/library/qwen3/4b': { layers: [layer('model', HEX)] },
    'hub/models--a--b/snapshots/r/c.gguf': '',
    'plain/d.gguf': '',
  });
  expect(Object.keys(await found(dir, 'any')).sort()).toEqual(['a/b/c', 'd', 'qwen3:4b']);
});
