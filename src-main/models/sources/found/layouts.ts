import { basename, dirname, join, resolve } from 'node:path';
import { partOf, partPath, stemOf } from '../../registry/model-parts.ts';
import { ollamaModels } from './ollama.ts';
import type { Candidate, CandidateFile, Layout, Place } from './places.ts';
import { readSmall } from './read-small.ts';
import type { Walk } from './walk.ts';

const LAYOUTS: Record<Layout, (dir: string, walk: Walk) => AsyncGenerator<CandidateFile>> = {
  files,
  ollama: ollamaModels,
  hub,
  jan,
  any,
};

/** Candidate models in a place; of a split model, the first file. */
export async function* candidatesIn({ app, layout, path }: Place, walk: Walk): AsyncGenerator<Candidate> {
  for await (const found of LAYOUTS[layout](path, walk)) yield { app, hasAdapter: false, ...found };
}

/** Excludes projectors for images and sound, which are separate files next to the model. */
function isModelFile(name: string): boolean {
  return /\.gguf$/i.test(name) && !/mmproj/i.test(name);
}

/** GGUF files in folders, each under its file name. */
async function* files(dir: string, walk: Walk): AsyncGenerator<CandidateFile> {
  for await (const path of walk.files(dir, isModelFile)) yield { path: firstOf(path), name: nameOf(path) };
}

/** The first file of a split model, whether it exists or not: a model whose first file is missing is listed too. */
function firstOf(path: string): string {
  const part = partOf(path);
  return part ? partPath(part, 1) : path;
}

function nameOf(path: string): string {
  return stemOf(basename(path));
}

/**
 * Hugging Face's cache: models--org--name/snapshots/REVISION/FILE, where files are links into blobs/
 * (https://huggingface.co/docs/huggingface_hub/guides/manage-cache); on Windows they may be the files themselves.
 */
async function* hub(dir: string, walk: Walk): AsyncGenerator<CandidateFile> {
  for await (const path of walk.files(dir, isModelFile)) {
    const name = hubName(path);
    if (name !== undefined) yield { path: firstOf(path), name };
  }
}

function hubName(path: string): string | undefined {
  const [, repository, file] = /[\\/]models--([^\\/]+)[\\/]snapshots[\\/][^\\/]+[\\/](.+)$/.exec(path) ?? [];
  return file && repository && `${repository.replaceAll('--', '/')}/${stemOf(file).replaceAll('\\', '/')}`;
}

/**
 * Jan: llamacpp/models/ID/model.gguf with a model.yml next to it, which has the model's `name`, and its `model_path`
 * relative to the data folder or, where the model was imported, absolute (extensions/llamacpp-extension in janhq/jan);
 * once models/…/FILE.gguf.
 */
async function* jan(dir: string, walk: Walk): AsyncGenerator<CandidateFile> {
  const wanted = (name: string): boolean => isModelFile(name) || name === 'model.yml';
  for (const folder of [join(dir, 'llamacpp', 'models'), join(dir, 'models')]) {
    for await (const path of walk.files(folder, wanted)) {
      const yml = (await readSmall(join(dirname(path), 'model.yml'))) ?? '';
      const file = path.endsWith('.yml') ? scalarOf(yml, 'model_path') : path;
      if (file) yield { path: firstOf(resolve(dir, file)), name: scalarOf(yml, 'name') ?? nameOf(file) };
    }
  }
}

/** The value of a top-level key in a YAML file as Jan writes it: on one line, possibly in quotes. */
function scalarOf(yml: string, key: string): string | undefined {
  const value = new RegExp(`^${key}:[ \\t]*(.+?)[ \\t]*\\r?$`, 'm').exec(yml)?.[1];
  return value?.replace(/^(['"])(.*)\1$/, '$2');
}

/** A folder from the user, which may have any layout. */
async function* any(dir: string, walk: Walk): AsyncGenerator<CandidateFile> {
  for (const each of [dir, join(dir, 'models')]) yield* ollamaModels(each, walk);
  for await (const path of walk.files(dir, isModelFile)) {
    yield { path: firstOf(path), name: hubName(path) ?? nameOf(path) };
  }
}
