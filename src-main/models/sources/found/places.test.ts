import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { modelPlaces } from './places.ts';

function home(files: Record<string, string> = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-places-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

async function pathsOf(app: string, env: Record<string, string>, platform: NodeJS.Platform) {
  return (await modelPlaces(env, platform)).filter((place) => place.app === app).map(({ path }) => path);
}

test.each([
  ['lm-studio', ['/h/.lmstudio/models', '/h/.cache/lm-studio/models']],
  ['ollama', ['/h/.ollama/models', '/usr/share/ollama/.ollama/models']],
  ['jan', ['/h/.local/share/Jan/data', '/h/.config/Jan/data', '/h/jan']],
  ['gpt4all', ['/h/.local/share/nomic.ai/GPT4All']],
  ['msty', ['/h/.config/Msty/models']],
  ['hugging-face', ['/h/.cache/huggingface/hub']],
  ['llama-cpp', ['/h/.cache/llama.cpp']],
])('on Linux, %s', async (app, paths) => {
  expect(await pathsOf(app, { HOME: '/h' }, 'linux')).toEqual(paths);
});

test.each([
  ['lm-studio', ['/h/.lmstudio/models', '/h/.cache/lm-studio/models']],
  ['jan', ['/h/Library/Application Support/Jan/data', '/h/jan']],
  ['gpt4all', ['/h/Library/Application Support/nomic.ai/GPT4All']],
  ['msty', ['/h/Library/Application Support/Msty/models']],
  ['hugging-face', ['/h/.cache/huggingface/hub']],
  ['llama-cpp', ['/h/Library/Caches/llama.cpp']],
])('on a Mac, %s', async (app, paths) => {
  expect(await pathsOf(app, { HOME: '/h' }, 'darwin')).toEqual(paths);
});

test.each([
  ['lm-studio', ['C:\\U\\.lmstudio\\models', 'C:\\U\\.cache\\lm-studio\\models']],
  ['ollama', expect.arrayContaining(['C:\\U\\.ollama\\models']) as string[]],
  ['jan', ['C:\\U\\AppData\\Roaming\\Jan\\data', 'C:\\U\\jan']],
  ['gpt4all', ['D:\\Local\\nomic.ai\\GPT4All']],
  ['msty', ['C:\\U\\AppData\\Roaming\\Msty\\models']],
  ['hugging-face', ['C:\\U\\.cache\\huggingface\\hub']],
  ['llama-cpp', ['D:\\Local\\llama.cpp']],
])('on Windows, %s', async (app, paths) => {
  const env = { USERPROFILE: 'C:\\U', LOCALAPPDATA: 'D:\\Local' };
  expect(await pathsOf(app, env, 'win32')).toEqual(paths);
});

test('what the environment names comes first', async () => {
  const env = { HOME: '/h', OLLAMA_MODELS: '/o', HF_HUB_CACHE: '/f', HF_HOME: '/e', LLAMA_CACHE: '/l' };
  expect((await pathsOf('ollama', env, 'linux'))[0]).toBe('/o');
  expect((await pathsOf('hugging-face', env, 'linux')).slice(0, 2)).toEqual(['/f', '/e/hub']);
  expect((await pathsOf('llama-cpp', env, 'linux'))[0]).toBe('/l');
  expect((await pathsOf('jan', { HOME: '/h', JAN_DATA_FOLDER: '/j' }, 'linux'))[0]).toBe('/j');
});

test("LM Studio's home and models may be elsewhere", async () => {
  const dir = home({
    '.lmstudio-home-pointer': '/other/lmstudio\n',
    '.lmstudio/settings.json': '{"downloadsFolder": "/big/models"}',
  });
  expect(await pathsOf('lm-studio', { HOME: dir }, 'linux')).toEqual([
    '/other/lmstudio/models',
    '/big/models',
    join(dir, '.lmstudio', 'models'),
    join(dir, '.cache', 'lm-studio', 'models'),
  ]);
});

test("Jan's data folder may be elsewhere; settings that are no JSON say nothing", async () => {
  const chosen = home({ '.local/share/Jan/settings.json': '{"data_folder": "/big/jan"}' });
  expect((await pathsOf('jan', { HOME: chosen }, 'linux'))[0]).toBe('/big/jan');
  const broken = home({ '.local/share/Jan/settings.json': '{' });
  expect((await pathsOf('jan', { HOME: broken }, 'linux'))[0]).toBe(join(broken, '.local/share/Jan/data'));
});

test('a folder can stand for all of the machine', async () => {
  const places = await modelPlaces({ HOME: '/h', OLLAMA_MODELS: '/o', KVASIR_MODELS_HOME: '/t' }, 'linux');
  expect(places.map(({ path }) => path).filter((path) => !path.startsWith('/t/'))).toEqual([]);
});
