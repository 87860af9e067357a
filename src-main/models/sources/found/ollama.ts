import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { parseOr } from '../../../platform/parse-or.ts';
import type { CandidateFile } from './places.ts';
import { readSmall } from './read-small.ts';
import type { Walk } from './walk.ts';

const LayerSchema = z.object({ mediaType: z.string(), digest: z.string() });
const ManifestSchema = z.object({
  layers: z.array(LayerSchema).default([]),
  /** A list of manifests, one for each kind of runner: each is inline or a blob named by `digest`. */
  manifests: z
    .array(z.object({ layers: z.array(LayerSchema).default([]), digest: z.string().default('') }))
    .default([]),
});
type Layer = z.infer<typeof LayerSchema>;

/** Media type of model weights; projectors and adapters have other types. */
const MODEL = 'application/vnd.ollama.image.model';
const ADAPTER = 'application/vnd.ollama.image.adapter';

/** Registries that Ollama omits from model names. */
const PUBLIC = ['registry.ollama.ai', 'ollama.com'];

/**
 * Ollama's store: manifests/REGISTRY/NAMESPACE/MODEL/TAG (and manifests-v2 since Ollama has lists of manifests) are
 * JSON, and list a model's blobs/sha256-HEX with their types (manifest/manifest.go and paths.go in ollama/ollama).
 */
export async function* ollamaModels(dir: string, walk: Walk): AsyncGenerator<CandidateFile> {
  for (const manifests of [join(dir, 'manifests-v2'), join(dir, 'manifests')]) {
    for await (const path of walk.files(manifests, () => true)) {
      const name = nameOf(relative(manifests, path).split(sep));
      const layers = name === undefined ? [] : await layersOf(dir, await readSmall(path));
      const blob = blobOf(
        dir,
        layers.find(({ mediaType }) => mediaType === MODEL),
      );
      if (name === undefined || blob === undefined) continue;
      yield { path: blob, name, hasAdapter: layers.some(({ mediaType }) => mediaType === ADAPTER) };
    }
  }
}

/** The name as Ollama lists it. */
function nameOf([registry = '', namespace, model, tag, ...more]: string[]): string | undefined {
  if (namespace === undefined || model === undefined || tag === undefined || more.length > 0)
    return undefined;
  const known = PUBLIC.includes(registry);
  const owner = known && namespace === 'library' ? [] : [namespace];
  return `${[...(known ? [] : [registry]), ...owner, model].join('/')}:${tag}`;
}

/** Layers of the first manifest with model weights: those of other runners have none in GGUF. */
async function layersOf(dir: string, text: string | undefined): Promise<Layer[]> {
  const { layers, manifests } = parseOr(ManifestSchema, text, { layers: [], manifests: [] });
  const all = [layers];
  for (const each of manifests) {
    const blob = each.layers.length === 0 ? blobOf(dir, each) : undefined;
    const own =
      blob === undefined
        ? each
        : parseOr(ManifestSchema, await readSmall(blob), { layers: [], manifests: [] });
    all.push(own.layers);
  }
  return all.find((each) => each.some(({ mediaType }) => mediaType === MODEL)) ?? [];
}

function blobOf(dir: string, layer: Pick<Layer, 'digest'> | undefined): string | undefined {
  const hex = /^sha256[:-]([0-9a-f]{64})$/i.exec(layer?.digest ?? '')?.[1];
  return hex === undefined ? undefined : join(dir, 'blobs', `sha256-${hex}`);
}
