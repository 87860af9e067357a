import { basename, dirname } from 'node:path';
import type { FoundModel } from '../../../src-shared/contract/found-models.ts';
import type { MemoryFit, InspectedModel, ModelEntry } from '../../../src-shared/contract/models.ts';
import { recommendedSampling } from '../../../src-shared/sampling.ts';
import type { GgufInfo } from '../../engine/engine.ts';
import { kvBytesPerToken } from './fit.ts';
import { stemOf } from './model-parts.ts';
import type { ModelRow } from './model-registry.ts';

/** A model as shown in lists. */
export function entryOf(
  row: ModelRow,
  fit: MemoryFit,
  status: Pick<ModelEntry, 'state' | 'failure' | 'active' | 'server' | 'embedding' | 'textMarks'>,
): ModelEntry {
  const { header } = row;
  return {
    ...inspectedOf(row),
    id: row.id,
    path: row.path,
    origin: status.server ? 'server' : row.origin,
    quantization: mainWeightType(header),
    fileBytes: header.fileBytes,
    parameterCount: header.parameterCount,
    layers: header.layers,
    contextTrain: header.contextTrain,
    adapter: row.adapter,
    kvBytesPerToken: { f16: kvBytesPerToken(header, 'f16'), q8_0: kvBytesPerToken(header, 'q8_0') },
    fit,
    ...status,
    recommendedSampling: recommendedSampling(header.sampling),
  };
}

/** The header's facts about running the file here. */
export function inspectedOf(row: Pick<ModelRow, 'name' | 'header' | 'path'>): InspectedModel {
  const { header } = row;
  return {
    name: modelName(row),
    role: roleOf(header),
    architecture: header.architecture,
    obstacle: header.obstacle === '' ? null : header.obstacle,
    // The reason applies to chat; loading a model for search shows whether libllama supports it.
    unsupportedReason: roleOf(header) === 'chat' ? header.unsupportedReason : '',
    ...(isBaseModel(header) && { baseModel: true }),
  };
}

function isBaseModel(header: GgufInfo): boolean {
  return roleOf(header) === 'chat' && header.obstacle !== 'remote' && header.chatTemplate === '';
}

/** The same for a file that is not in the list, plus other header facts. */
export function foundHeaderOf(
  header: GgufInfo,
  path: string,
): Omit<NonNullable<FoundModel['header']>, 'fit'> {
  const { name: _, ...inspected } = inspectedOf({ name: null, header, path });
  return { ...inspected, quantization: mainWeightType(header), parameterCount: header.parameterCount };
}

/** A name from a file can have any length and any number of lines. */
const MAX_NAME_UNITS = 200;

export function modelName({ name: given, header, path }: Pick<ModelRow, 'name' | 'header' | 'path'>): string {
  if (given !== null) return given;
  const name = header.name.slice(0, MAX_NAME_UNITS).toWellFormed();
  const clean = name.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const file = fileName(path);
  return NO_NAME.test(clean) || isTrainingRun(clean, file) ? file : clean;
}

/** What converters write where they know no name: a hash, a path, or a word for any model; and "LLaMA v2" in its descendants. */
const NO_NAME =
  /^(|[\da-f]{16,}|[/\\].*|[a-z]:\\.*|llama v2|(ggml-)?models?|hf|merged|output|tmp|snapshots?|weights|gguf|unknown|checkpoint[- ]?\d*)$/i;

/** The name of a file without its quantization; of one with a name for any model, that of its repository or folder. */
function fileName(path: string): string {
  const file = stemOf(basename(path)).replace(QUANTIZATION, '');
  if (!NO_NAME.test(file)) return file;
  const repository = /[\\/]models--([^\\/]+)[\\/]snapshots[\\/]/.exec(path)?.[1]?.split('--').at(-1);
  return (repository ?? basename(dirname(path))) || file;
}

/** Suffixes that quantizers add to a model's name: "-q4_k_m", ".IQ3_XS", "-f16". */
const QUANTIZATION = /[-._](?:i?q\d\w*|ud-\w+|mxfp4\w*|b?f16|f32)$/i;

/**
 * Whether most words of a header's name are missing from the file's name, as with "Smollm2 135M 8k Lc100K Mix1 Ep2" in
 * smollm2-135m-instruct.gguf. If they share none, the file has been renamed, and the header's name is better.
 */
function isTrainingRun(name: string, file: string): boolean {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const known = new Set(file.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const shared = words.filter((word) => known.has(word)).length;
  return shared > 0 && shared < words.length - shared;
}

/** The model's name in answers and measurements, including its adapter. */
export function withAdapter(name: string, adapter: string | null | undefined): string {
  return adapter ? `${name} + ${basename(adapter).replace(/\.gguf$/i, '')}` : name;
}

export function roleOf(header: Pick<GgufInfo, 'embedding' | 'reranker'>): ModelEntry['role'] {
  if (header.reranker) return 'reranker';
  return header.embedding ? 'embedding' : 'chat';
}

/** The type of most tensors, ignoring small vectors in f32. */
function mainWeightType({ tensorTypes }: GgufInfo): string {
  const types = Object.entries(tensorTypes).sort((a, b) => b[1] - a[1]);
  return (types.find(([type]) => type !== 'f32') ?? types[0])?.[0] ?? '';
}
