import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { KvasirError } from '../../src-shared/errors.ts';
import type { SessionDtype } from '../../src-shared/kv-dtype.ts';
import { nativeRoot } from '../platform/root.ts';
import { guarded, guardedAsync } from './call.ts';
import { Embedder } from './embedder.ts';
import { Model } from './model.ts';
import type {
  NativeAddon,
  NativeChunkHeader,
  NativeDevice,
  NativeEmbedderOptions,
  NativeGgufInfo,
  NativeReference,
  NativeReferenceOptions,
  NativeVectorScan,
} from './native.ts';

export type { CallOptions, ChunkError } from './call.ts';
export { ChunkKv } from './chunk-kv.ts';
export { Embedder } from './embedder.ts';
export { Model } from './model.ts';
export { GREEDY, Session, type AppendOptions, type GenerateOptions, type Segment } from './session.ts';
export type {
  EngineName,
  KvDtype,
  NativeAppendReport as AppendReport,
  NativeCheckReport as CheckReport,
  NativeChunkHeader as ChunkHeader,
  NativeDevice as Device,
  NativeDeviceTier as DeviceTier,
  NativeDeviationStats as DeviationStats,
  NativeEmbedderInfo as EmbedderInfo,
  NativeEmbedderOptions as EmbedderOptions,
  NativeGenerateResult as GenerateResult,
  NativeGgufInfo as GgufInfo,
  NativeKvUsage as KvUsage,
  NativeLayerReport as LayerReport,
  NativeLoadOptions as Loading,
  NativeModelInfo as ModelInfo,
  NativeProgress as Progress,
  NativeAdaptive as Adaptive,
  NativeDeviationOf as DeviationOf,
  NativeQuestionReport as QuestionReport,
  NativeReference as Reference,
  NativeSampledToken as TokenChances,
  NativeSampling as Sampling,
  NativeSessionDeviation as SessionDeviation,
  NativeGivenTokens as GivenTokens,
  NativeStrategy as Strategy,
  NativeTokenRange as TokenRange,
  NativeVectorScan as VectorScan,
  NativeVectorScope as VectorScope,
} from './native.ts';

interface LoadOptions {
  /** Default: one per physical core, as llama.cpp does. */
  threads?: number;
  /** 'auto', 'cpu' or a name from devices(). */
  device?: string;
  /** Data type of session KV; `info.kvDtype` tells which one the model uses. Default: f16. */
  kvDtype?: SessionDtype;
  /** File of a LoRA adapter to apply to the model. */
  adapter?: string | undefined;
  /** See Model.setDeviceBudget(). */
  deviceBudgetBytes?: number | undefined;
  onProgress?: (fraction: number) => void;
}

/** The process-wide entry point of the engine: devices, GGUF headers, models, chunk files. */
export class Engine {
  static #rests = false;
  readonly #addon: NativeAddon;

  private constructor(addon: NativeAddon) {
    this.#addon = addon;
  }

  /** Loads the addon and ggml's libraries, but no packs. ENGINE_FAILED if setup has not installed them. */
  static open(root = nativeRoot()): Engine {
    const path = join(root, 'build', 'native', 'kvasir.node');
    if (!existsSync(path)) {
      throw new KvasirError(
        'ENGINE_FAILED',
        `The native engine is not built (${path} is missing).`,
        'Run `npm run setup`.',
      );
    }
    const addon = createRequire(import.meta.url)(path) as NativeAddon;
    guarded(() => addon.init(join(root, 'build', 'ggml')));
    // Threads that still computed while the process exits would use libraries that are taken down: it would crash.
    if (isMainThread && !Engine.#rests) process.once('exit', () => addon.rest());
    Engine.#rests = true;
    return new Engine(addon);
  }

  version(): { ggml: string; addon: string } {
    return this.#addon.version();
  }

  /**
   * Loads a GPU pack (packFiles()), whose devices then become available. A driver can crash the process here.
   * DEVICE_FAILED.
   */
  loadPack(path: string): void {
    if (!existsSync(path)) {
      throw new KvasirError(
        'DEVICE_FAILED',
        `There is no GPU pack at ${path}, so the CPU is used.`,
        "Get it in the settings, under Engine, or run `npm run setup` with the pack's flag again.",
      );
    }
    guarded(() => this.#addon.loadPack(path));
  }

  devices(): NativeDevice[] {
    return guarded(() => this.#addon.listDevices());
  }

  /**
   * Reads a GGUF header; for a split model, that of the first file. MODEL_NOT_FOUND, MODEL_INVALID, MODEL_PART_MISSING.
   */
  inspect(path: string): NativeGgufInfo {
    requireModelFile(path);
    return guarded(() => this.#addon.readGguf(path));
  }

  /** The same on a separate thread, for files that nobody waits for: a large vocabulary takes a while. */
  async inspectAside(path: string): Promise<NativeGgufInfo> {
    requireModelFile(path);
    return guardedAsync(() => this.#addon.readGgufAside(path));
  }

  /**
   * Identifies the weights of a GGUF file by hashing its header and the ends of each tensor. MODEL_NOT_FOUND,
   * MODEL_INVALID.
   */
  async fingerprint(path: string): Promise<string> {
    requireModelFile(path);
    return guardedAsync(() => this.#addon.fingerprintGguf(path));
  }

  /**
   * Checks from the headers of both files whether a LoRA adapter fits a model.
   * MODEL_NOT_FOUND, MODEL_INVALID, ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED.
   */
  checkAdapter(path: string, model: string): void {
    requireTakesAdapters(this.inspect(model));
    if (!existsSync(path)) {
      throw new KvasirError('ADAPTER_INVALID', `There is no adapter file at ${path}.`, 'Check the path.');
    }
    guarded(() => this.#addon.checkAdapter(path, model));
  }

  /**
   * Loads a model into the engine that its header calls for.
   * MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY, and with an adapter the codes of checkAdapter().
   */
  async loadModel(path: string, options: LoadOptions = {}): Promise<Model> {
    const { engine } = this.inspect(path);
    const { threads = 0, device = 'auto', kvDtype = 'f16', adapter, onProgress } = options;
    if (adapter !== undefined) this.checkAdapter(adapter, path);
    const all = { threads, device, kvDtype, adapter };
    const native = await guardedAsync(() =>
      engine === 'blending'
        ? this.#addon.loadModel(path, all, onProgress)
        : this.#addon.loadLlamaModel(path, all, onProgress),
    );
    const model = new Model(this.#addon, native, path, adapter);
    model.setDeviceBudget(options.deviceBudgetBytes);
    return model;
  }

  /** Loads an embedding model or a reranker. MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY. */
  async loadEmbedder(path: string, options: Partial<NativeEmbedderOptions> = {}): Promise<Embedder> {
    requireModelFile(path);
    const native = await guardedAsync(() =>
      this.#addon.loadEmbedder(path, { threads: 0, device: 'auto', ...options }),
    );
    return new Embedder(this.#addon, native);
  }

  /** Makes an empty index of vectors of 1 to 16,384 values. */
  createVectorScan(dimension: number): NativeVectorScan {
    return guarded(() => this.#addon.createVectorScan(dimension));
  }

  /** Reads a chunk file's header. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_UNREADABLE. */
  readChunkHeader(path: string): Promise<NativeChunkHeader> {
    return guardedAsync(() => this.#addon.readChunkHeader(path));
  }

  /** Reads a whole chunk file and verifies every checksum. CHUNK_CORRUPT, CHUNK_VERSION. */
  verifyChunk(path: string): Promise<void> {
    return guardedAsync(() => this.#addon.verifyChunk(path));
  }

  /** Ends threads without work, and gives memory that was freed back to the system, which the C library may not do. */
  releaseMemory(): Promise<void> {
    return guardedAsync(() => this.#addon.releaseMemory());
  }

  /** llama.cpp's own inference on the same file, for parity tests and benchmarks. */
  loadReference(path: string, options: NativeReferenceOptions): Promise<NativeReference> {
    requireModelFile(path);
    return guardedAsync(() => this.#addon.loadReference(path, options));
  }
}

function requireTakesAdapters({ engine }: NativeGgufInfo): void {
  if (engine === 'blending') return;
  throw new KvasirError(
    'ADAPTER_UNSUPPORTED',
    'Adapters are only supported for models that Kvasir can blend, and this model is not one of them.',
    'Choose another model, or merge the adapter into this one.',
  );
}

function requireModelFile(path: string): void {
  if (!existsSync(path)) {
    throw new KvasirError(
      'MODEL_NOT_FOUND',
      `There is no model file at ${path}.`,
      'Check the path, or import a GGUF file.',
    );
  }
}
