import { posix, win32 } from 'node:path';
import { homedir } from 'node:os';
import type { FoundApp } from '../../../../src-shared/contract/found-models.ts';
import { readSmall } from './read-small.ts';

/** File layout of a folder; see layouts.ts. */
export type Layout = 'files' | 'ollama' | 'hub' | 'jan' | 'any';

/** A folder in which a program keeps models. */
export interface Place {
  app: FoundApp;
  layout: Layout;
  path: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Base folders of programs, by the platform's convention. */
interface Folders {
  env: Environment;
  join: (...parts: string[]) => string;
  home: string;
  /** System-wide files. */
  system: string;
  /** Per-user settings and data. */
  data: string;
  localData: string;
  config: string;
  cache: string;
}

/**
 * Folders where other programs keep models on this machine, existing or not. KVASIR_MODELS_HOME replaces the user's and
 * the system's folders; the rest of the environment is then ignored.
 */
export async function modelPlaces(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): Promise<Place[]> {
  const instead = env['KVASIR_MODELS_HOME'];
  const folders = instead
    ? foldersOf({ HOME: instead, USERPROFILE: instead }, platform, instead)
    : foldersOf(env, platform, '/');
  const places = [
    ...(await lmStudio(folders)),
    ...ollama(folders),
    ...(await jan(folders)),
    ...gpt4all(folders),
    ...msty(folders),
    ...huggingFace(folders),
    ...llamaCpp(folders),
  ];
  const seen = new Set<string>();
  return places.filter(({ path }) => !seen.has(path) && seen.add(path));
}

function foldersOf(env: Environment, platform: NodeJS.Platform, system: string): Folders {
  const join = (...parts: string[]): string => (platform === 'win32' ? win32 : posix).join(...parts);
  const home = (platform === 'win32' ? env['USERPROFILE'] : env['HOME']) ?? homedir();
  const common = { env, join, home, system };
  if (platform === 'win32') {
    const data = env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
    const localData = env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local');
    return { ...common, data, localData, config: data, cache: localData };
  }
  if (platform === 'darwin') {
    const data = join(home, 'Library', 'Application Support');
    return { ...common, data, localData: data, config: data, cache: join(home, 'Library', 'Caches') };
  }
  const data = env['XDG_DATA_HOME'] ?? join(home, '.local', 'share');
  const config = env['XDG_CONFIG_HOME'] ?? join(home, '.config');
  return { ...common, data, localData: data, config, cache: env['XDG_CACHE_HOME'] ?? join(home, '.cache') };
}

/**
 * LM Studio: models/publisher/model/file.gguf in its home (https://lmstudio.ai/docs/basics/import-model), which is
 * ~/.lmstudio, formerly ~/.cache/lm-studio, or the path in ~/.lmstudio-home-pointer. `downloadsFolder` in the home's
 * settings.json overrides the models folder (lmstudio-ai/lms, src/modelsFolder.ts and lmstudioPaths.ts).
 */
async function lmStudio({ join, home }: Folders): Promise<Place[]> {
  const pointer = (await readSmall(join(home, '.lmstudio-home-pointer')))?.trim();
  const homes = [...(pointer ? [pointer] : []), join(home, '.lmstudio'), join(home, '.cache', 'lm-studio')];
  const paths = homes.map(async (path) => [
    ...(await settingOf(join(path, 'settings.json'), 'downloadsFolder')),
    join(path, 'models'),
  ]);
  return (await Promise.all(paths)).flat().map((path) => ({ app: 'lm-studio', layout: 'files', path }));
}

/**
 * Ollama: $OLLAMA_MODELS, else ~/.ollama/models, and for the Linux service /usr/share/ollama/.ollama/models
 * (https://github.com/ollama/ollama/blob/main/docs/faq.md, "Where are models stored?").
 */
function ollama({ env, join, home, system }: Folders): Place[] {
  const paths = [
    ...named(env['OLLAMA_MODELS']),
    join(home, '.ollama', 'models'),
    join(system, 'usr', 'share', 'ollama', '.ollama', 'models'),
  ];
  return paths.map((path) => ({ app: 'ollama', layout: 'ollama', path }));
}

/**
 * Jan: a data folder, Jan/data or formerly ~/jan (https://www.jan.ai/docs/desktop/data-folder), or the path in
 * $JAN_DATA_FOLDER or in `data_folder` of Jan/settings.json (`resolve_jan_data_folder` in janhq/jan). On Linux its
 * documentation says ~/.config, its code ~/.local/share: both are searched.
 */
async function jan({ env, join, home, data, config }: Folders): Promise<Place[]> {
  const apps = [join(data, 'Jan'), join(config, 'Jan')];
  const chosen = await Promise.all(apps.map((app) => settingOf(join(app, 'settings.json'), 'data_folder')));
  const paths = [
    ...named(env['JAN_DATA_FOLDER']),
    ...chosen.flat(),
    ...apps.map((app) => join(app, 'data')),
    join(home, 'jan'),
  ];
  return paths.map((path) => ({ app: 'jan', layout: 'jan', path }));
}

/** GPT4All: one folder (https://docs.gpt4all.io/gpt4all_desktop/settings.html, "Download Path"). */
function gpt4all({ join, localData }: Folders): Place[] {
  return [{ app: 'gpt4all', layout: 'files', path: join(localData, 'nomic.ai', 'GPT4All') }];
}

/** Msty: runs a private Ollama and stores models the same way. Its vendor documents no path; users report this one. */
function msty({ join, config }: Folders): Place[] {
  return [{ app: 'msty', layout: 'ollama', path: join(config, 'Msty', 'models') }];
}

/**
 * Hugging Face's cache, which llama.cpp also uses: $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub on
 * every platform (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
 */
function huggingFace({ env, join, home }: Folders): Place[] {
  const xdg = env['XDG_CACHE_HOME'];
  const paths = [
    ...named(env['HF_HUB_CACHE']),
    ...named(env['HF_HOME']).map((path) => join(path, 'hub')),
    ...(xdg ? [join(xdg, 'huggingface', 'hub')] : []),
    join(home, '.cache', 'huggingface', 'hub'),
  ];
  return paths.map((path) => ({ app: 'hugging-face', layout: 'hub', path }));
}

/** llama.cpp: $LLAMA_CACHE, else llama.cpp in the cache folder (`fs_get_cache_directory` in its common/common.cpp). */
function llamaCpp({ env, join, cache }: Folders): Place[] {
  const paths = [...named(env['LLAMA_CACHE']), join(cache, 'llama.cpp')];
  return paths.map((path) => ({ app: 'llama-cpp', layout: 'files', path }));
}

function named(path: string | undefined): string[] {
  return path ? [path] : [];
}

/** A path from a program's settings, as a list of one or none. */
async function settingOf(path: string, key: string): Promise<string[]> {
  const text = await readSmall(path);
  if (text === undefined) return [];
  try {
    const value = (JSON.parse(text) as Record<string, unknown> | null)?.[key];
    return typeof value === 'string' ? named(value) : [];
  } catch {
    return [];
  }
}

/** A file that may be a model, with the name its location implies. */
export interface Candidate {
  path: string;
  name: string;
  app: FoundApp;
  hasAdapter: boolean;
}

/** Without the place's app. */
export type CandidateFile = Omit<Candidate, 'app' | 'hasAdapter'> & { hasAdapter?: boolean };
