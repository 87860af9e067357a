import type { MemoryFit } from '../../../src-shared/contract/models.ts';
import { kvBytes } from '../../../src-shared/kv-dtype.ts';
import type { Device, GgufInfo, KvDtype } from '../../engine/engine.ts';

/** Memory of this machine in bytes. */
export interface Memory {
  free: number;
  total: number;
}

interface FitRequest {
  header: GgufInfo;
  /** Context length of a conversation in tokens. */
  contextTokens: number;
  /** Data type of conversation KV, if the model supports it. */
  kvDtype: KvDtype;
  /** Target device: 'auto', 'cpu' or a name. */
  device: string;
  devices: readonly Device[];
  memory: Memory;
  /** Whether the model is loaded now, so that its weights already count as used memory. */
  loaded: boolean;
}

/** Above this share of free memory, other programs and the memory cache compete for space. */
const COMFORTABLE = 0.9;
/** Memory in use can partly be reclaimed: the system drops its file cache and swaps. */
const POSSIBLE = 0.85;

/** Compares weights, the KV of a full context and compute buffers with the memory of the target device. */
export function fitOf(request: FitRequest): MemoryFit {
  const { header, memory } = request;
  const contextTokens =
    header.contextTrain > 0 ? Math.min(header.contextTrain, request.contextTokens) : request.contextTokens;
  const weightsBytes = header.fileBytes;
  const stateBytes = header.stateValues * Float32Array.BYTES_PER_ELEMENT;
  const kvBytes =
    header.embedding || header.reranker
      ? 0
      : contextTokens * kvBytesPerToken(header, keptAs(request)) + stateBytes;
  const computeBytes = computeBytesOf(header, contextTokens);
  const needed = weightsBytes + kvBytes + computeBytes;
  const gpu = gpuFor(request);
  const freeBytes = (gpu ? gpu.memoryFree : memory.free) + (request.loaded ? weightsBytes : 0);
  // Layers that do not fit the GPU run on the CPU: slower, but they run.
  const possibleBytes = POSSIBLE * memory.total + (gpu ? freeBytes : 0);
  const otherwise = needed <= possibleBytes ? 'tight' : 'too-large';
  return {
    weightsBytes,
    kvBytes,
    computeBytes,
    contextTokens,
    device: gpu?.name ?? 'CPU',
    freeBytes,
    verdict: needed <= COMFORTABLE * freeBytes ? 'fits' : otherwise,
  };
}

/** Same rule as the engines: heads that are not a multiple of q8_0's 32-value blocks keep f16, also in libllama. */
function keptAs({ header, kvDtype }: FitRequest): KvDtype {
  return header.engine !== 'llama' && header.headDims.every((size) => size % 32 === 0) ? kvDtype : 'f16';
}

/** KV bytes per token, over all layers. */
export function kvBytesPerToken({ kvValuesPerToken: values }: GgufInfo, dtype: KvDtype): number {
  return kvBytes(values, dtype);
}

/** Activations of a whole prompt, computed layer by layer: residual stream, attention in and out, feed-forward; f32. */
function computeBytesOf(header: GgufInfo, tokens: number): number {
  const rows = 4 * header.embeddingLength + 2 * header.feedForwardLength;
  return 4 * (tokens * rows + header.vocabSize);
}

function gpuFor({ device, devices }: FitRequest): Device | undefined {
  if (device === 'cpu') return undefined;
  const gpus = devices.filter(({ kind }) => kind !== 'cpu');
  if (device !== 'auto') return gpus.find(({ name }) => name === device);
  return gpus.sort((a, b) => b.memoryFree - a.memoryFree)[0];
}
