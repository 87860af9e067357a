import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { parseOr } from '../../platform/parse-or.ts';
import type { Found } from './layouts.ts';
import { readSmall } from './read-small.ts';
import type { Walk } from './walk.ts';

const LayerSchema = z.object({ mediaType: z.string(), digest: z.string() });
const ManifestSchema = z.object({
  layers: z.array(LayerSchema).default([]),
  /** Of a list of manifests, one for each kind of runner: each is written out, or a blob that `digest` names. */
  manifests: z
    .array(z.object({ layers: z.array(LayerSchema).default([]), digest: z.string().default('') }))
    .default([]),
});
type Layer = z.infer<typeof LayerSchema>;

/** As projectors and adapters have types of their own, a model's weights are told from them. */
const MODEL = 'application/vnd.ollama.image.model';
const ADAPTER = 'application/vnd.ollama.image.adapter';

/** Whose names people write without their registry. */
const PUBLIC = ['registry.ollama.ai', 'ollama.com'];

/**
 * Ollama's store: manifests/REGISTRY/NAMESPACE/MODEL/TAG (since it has lists of manifests also under manifests-v2) are JSON, and name
 * the blobs/sha256-HEX that a model is made of by their types (manifest/manifest.go and paths.go in ollama/ollama).
 */
export async function* ollamaModels(dir: string, walk: Walk): AsyncGenerator<Found> {
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

/** As Ollama lists it. */
function nameOf([registry = '', namespace, model, tag, ...more]: string[]): string | undefined {
  if (namespace === undefined || model === undefined || tag === undefined || more.length > 0)
    return undefined;
  const known = PUBLIC.includes(registry);
  const owner = known && namespace === 'library' ? [] : [namespace];
  return `${[...(known ? [] : [registry]), ...owner, model].join('/')}:${tag}`;
}

/** Of the first manifest that has a model's weights: those of other runners have none in GGUF. */
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
