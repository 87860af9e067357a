import { basename } from 'node:path';
import type { Failure } from '../../src-shared/contract/common.ts';
import type { FoundModel } from '../../src-shared/contract/found-models.ts';
import type { Fit, InspectedModel, ModelEntry } from '../../src-shared/contract/models.ts';
import { recommendedSampling } from '../../src-shared/sampling.ts';
import type { GgufInfo } from '../engine/engine.ts';
import { kvBytesPerToken } from './fit.ts';
import { stemOf } from './model-parts.ts';
import type { ModelRow } from './registry.ts';

export interface ModelStatus {
  state: ModelEntry['state'];
  failure: Failure | null;
  active: boolean;
  /** Of a model on a server. */
  server: ModelEntry['server'];
}

/** A model as lists show it. */
export function entryOf(
  row: ModelRow,
  fit: Fit,
  { state, failure, active, server }: ModelStatus,
): ModelEntry {
  const { header } = row;
  return {
    ...inspectedOf(row),
    id: row.id,
    path: row.path,
    origin: server ? 'server' : row.origin,
    quantization: mainWeightType(header),
    fileBytes: header.fileBytes,
    parameterCount: header.parameterCount,
    layers: header.layers,
    contextTrain: header.contextTrain,
    adapter: row.adapter,
    server,
    kvBytesPerToken: { f16: kvBytesPerToken(header, 'f16'), q8_0: kvBytesPerToken(header, 'q8_0') },
    fit,
    state,
    failure,
    active,
    recommendedSampling: recommendedSampling(header.sampling),
  };
}

/** What a header says of running the file here. */
export function inspectedOf(row: Pick<ModelRow, 'name' | 'header' | 'path'>): InspectedModel {
  const { header } = row;
  return {
    name: modelName(row),
    role: roleOf(header),
    architecture: header.architecture,
    obstacle: header.obstacle === '' ? null : header.obstacle,
    // The reason speaks of chat; whether libllama knows an embedding model is found out by loading it.
    unsupportedReason: header.embedding ? '' : header.unsupportedReason,
  };
}

/** The same of a file that is not in the list, with what else a header tells of it. */
export function foundHeaderOf(
  header: GgufInfo,
  path: string,
): Omit<NonNullable<FoundModel['header']>, 'fit'> {
  const { architecture, obstacle, unsupportedReason } = inspectedOf({ name: null, header, path });
  const { parameterCount } = header;
  const role = header.reranker ? 'reranker' : roleOf(header);
  const quantization = mainWeightType(header);
  return { role, architecture, obstacle, unsupportedReason, quantization, parameterCount };
}

/** What a file claims to be called may be of any length, in any number of lines. */
const MAX_NAME_UNITS = 200;

export function modelName({ name: given, header, path }: Pick<ModelRow, 'name' | 'header' | 'path'>): string {
  if (given !== null) return given;
  const name = header.name.slice(0, MAX_NAME_UNITS).toWellFormed();
  const clean = name.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const file = stemOf(basename(path)).replace(QUANTIZATION, '');
  return clean === '' || isTrainingRun(clean, file) ? file : clean;
}

/** What quantizers put behind a model's name: "-q4_k_m", ".IQ3_XS", "-f16". */
const QUANTIZATION = /[-._](?:i?q\d\w*|ud-\w+|mxfp4\w*|b?f16|f32)$/i;

/**
 * Whether a header's name holds more words that its file's name lacks than words that both have, as "Smollm2 135M 8k Lc100K Mix1 Ep2" in
 * smollm2-135m-instruct.gguf. Where they share none, the file has been renamed, and the header knows better.
 */
function isTrainingRun(name: string, file: string): boolean {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const known = new Set(file.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const shared = words.filter((word) => known.has(word)).length;
  return shared > 0 && shared < words.length - shared;
}

/** As answers and measurements name a model: with the adapter that is on it. */
export function withAdapter(name: string, adapter: string | null | undefined): string {
  return adapter ? `${name} + ${basename(adapter).replace(/\.gguf$/i, '')}` : name;
}

export function roleOf(header: GgufInfo): ModelEntry['role'] {
  return header.embedding ? 'embedding' : 'chat';
}

/** The type of most tensors, small vectors in f32 aside. */
function mainWeightType({ tensorTypes }: GgufInfo): string {
  const types = Object.entries(tensorTypes).sort((a, b) => b[1] - a[1]);
  return (types.find(([type]) => type !== 'f32') ?? types[0])?.[0] ?? '';
}
