import type { Fit } from '../../src-shared/contract/models.ts';
import type { Device, GgufInfo, KvDtype } from '../engine/engine.ts';

/** Bytes of memory on this machine. */
export interface Memory {
  free: number;
  total: number;
}

interface FitRequest {
  header: GgufInfo;
  /** Tokens of a conversation. */
  contextTokens: number;
  /** How the KV of conversations is kept, where the model can. */
  kvDtype: KvDtype;
  /** What the model would be loaded on: 'auto', 'cpu' or a name. */
  device: string;
  devices: readonly Device[];
  memory: Memory;
  /** Whether the model is loaded now, so that its weights are part of what is not free. */
  loaded: boolean;
}

/** Above this share of what is free, other programs and the cache in memory get in each other's way. */
const COMFORTABLE = 0.9;
/** What is in use by others can partly be had back: the system drops its file cache and swaps. */
const POSSIBLE = 0.85;

/** Weights, the KV of a whole context and what computing needs, against the memory of the device that would run it. */
export function fitOf(request: FitRequest): Fit {
  const { header, memory } = request;
  const contextTokens =
    header.contextTrain > 0 ? Math.min(header.contextTrain, request.contextTokens) : request.contextTokens;
  const weightsBytes = header.fileBytes;
  const stateBytes = header.stateValues * Float32Array.BYTES_PER_ELEMENT;
  const kvBytes = header.embedding
    ? 0
    : contextTokens * kvBytesPerToken(header, keptAs(request)) + stateBytes;
  const computeBytes = computeBytesOf(header, contextTokens);
  const needed = weightsBytes + kvBytes + computeBytes;
  const gpu = gpuFor(request);
  const own = request.loaded ? weightsBytes : 0;
  const parts = { weightsBytes, kvBytes, computeBytes, contextTokens };
  if (gpu) {
    const freeBytes = gpu.memoryFree + own;
    // Layers that do not fit the graphics card run on the processor: slower, but they run.
    const spill = needed <= freeBytes + POSSIBLE * memory.total ? 'tight' : 'too-large';
    return {
      ...parts,
      device: gpu.name,
      freeBytes,
      verdict: needed <= COMFORTABLE * freeBytes ? 'fits' : spill,
    };
  }
  const freeBytes = memory.free + own;
  const squeeze = needed <= POSSIBLE * memory.total ? 'tight' : 'too-large';
  return {
    ...parts,
    device: 'CPU',
    freeBytes,
    verdict: needed <= COMFORTABLE * freeBytes ? 'fits' : squeeze,
  };
}

/** As the engines do: heads that q8_0's blocks of 32 do not divide keep f16, and so does libllama. */
function keptAs({ header, kvDtype }: FitRequest): KvDtype {
  return header.engine !== 'llama' && header.headDims.every((size) => size % 32 === 0) ? kvDtype : 'f16';
}

/** Bytes of KV of one token, over all layers. q8_0 holds 32 values in 34 bytes. */
export function kvBytesPerToken({ kvValuesPerToken: values }: GgufInfo, dtype: KvDtype): number {
  return dtype === 'f16' ? values * 2 : (values / 32) * 34;
}

/** Activations of a whole prompt, which runs layer by layer: residual stream, attention in and out, feed-forward; f32. */
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
