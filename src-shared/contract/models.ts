import { z } from 'zod';
import { BLENDING_OBSTACLES } from '../blending.ts';
import { procedure } from './define.ts';
import { SamplingSchema } from '../sampling.ts';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { WebAddressSchema } from '../web-address.ts';
import { AddedServerSchema, AskedServerSchema, ListedServerSchema, ServerFactsSchema } from './servers.ts';

/** Whether a model fits this machine's memory: weights, the KV of a context, and compute buffers. */
export const MemoryFitSchema = z.object({
  verdict: z.enum(['fits', 'tight', 'too-large']),
  device: z.string(),
  weightsBytes: z.number(),
  kvBytes: z.number(),
  computeBytes: z.number(),
  freeBytes: z.number(),
  contextTokens: z.int(),
});

/** What an embedding model wants before texts. In a passage's, `{title}` stands for its title. */
const EmbeddingPrefixesSchema = z.object({
  question: z.string().max(1000),
  passage: z.string().max(1000),
});

export const ModelEntrySchema = z.object({
  id: IdSchema,
  name: z.string(),
  path: z.string(),
  origin: z.enum(['demo', 'imported', 'downloaded', 'server']),
  role: z.enum(['chat', 'embedding', 'reranker']),
  architecture: z.string(),
  /** Most common weight type, e.g. "q4_K". */
  quantization: z.string(),
  fileBytes: z.number(),
  parameterCount: z.number(),
  layers: z.int(),
  contextTrain: z.int(),
  /** Bytes of stored KV per token, by dtype. */
  kvBytesPerToken: z.object({ f16: z.number(), q8_0: z.number() }),
  fit: MemoryFitSchema,
  /** Why its passages cannot be blended, so that nothing is precomputed; null if they can. */
  obstacle: z.enum(BLENDING_OBSTACLES).nullable(),
  /** Empty if an engine can run it, else the reason (one sentence). */
  unsupportedReason: z.string(),
  /** Set if it is no embedding model and no reranker but has no chat template: it continues text instead of answering. */
  baseModel: z.literal(true).optional(),
  /** Control marks of its chat template that its vocabulary lacks, so that it reads them as text; known once it has been loaded. */
  textMarks: z.array(z.string()).optional(),
  state: z.enum(['idle', 'loading', 'ready', 'failed', 'missing']),
  failure: FailureSchema.nullable(),
  /** File of the applied LoRA adapter; null if there is none. */
  adapter: z.string().nullable(),
  /** For a model on a server; null: local file. */
  server: ServerFactsSchema.nullable(),
  /** Whether it is the current model of its role. */
  active: z.boolean(),
  /** For an embedding model. */
  embedding: EmbeddingPrefixesSchema.extend({
    /** Who says so: the model's card, the user, or nobody: the model is unknown. */
    source: z.enum(['card', 'user', 'unknown']),
    /** Address of the model's card, if the model is known. */
    card: z.string().nullable(),
    /** Longest text in tokens; the rest of a longer one is not embedded. */
    tokens: z.int(),
    /** Maximum tokens of a passage, by the chat model's tokeniser. */
    chunkTokens: z.int().nullable(),
  }).optional(),
  /** Sampling values recommended in its header. */
  recommendedSampling: SamplingSchema.prefault({}),
});

/** Header of a GGUF as labels and values, in display order. */
const ModelDetailSchema = z.object({
  model: ModelEntrySchema,
  header: z.array(z.object({ label: z.string(), value: z.string() })),
  /** Weight type → number of tensors. */
  tensorTypes: z.record(z.string(), z.int()),
});

/** A file's entry before it is added to the list. */
export const InspectedModelSchema = ModelEntrySchema.pick({
  name: true,
  role: true,
  architecture: true,
  obstacle: true,
  unsupportedReason: true,
  baseModel: true,
});

/** The effect of activating a model on the caches. */
const ModelImpactSchema = z.object({
  chunks: z.int(),
  /** Of these, those whose KV by this model is already stored. */
  cachedChunks: z.int(),
  tokensToCompute: z.int(),
  bytesToStore: z.number(),
  /** null until this model's speed is known. */
  secondsEstimate: z.number().nullable(),
});

export const CatalogueEntrySchema = z.object({
  id: IdSchema,
  name: z.string(),
  description: z.string(),
  role: z.enum(['chat', 'embedding', 'reranker']),
  parameterCount: z.number(),
  quantization: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  url: z.url(),
  license: z.string(),
});

export const DownloadSchema = z.object({
  id: IdSchema,
  name: z.string(),
  url: z.string(),
  state: z.enum(['queued', 'downloading', 'verifying', 'paused', 'failed', 'done']),
  bytesDone: z.number(),
  /** 0 until the server has sent it. */
  bytesTotal: z.number(),
  bytesPerSecond: z.number(),
  secondsLeft: z.number().nullable(),
  failure: FailureSchema.nullable(),
  /** For a hub's file: its repository, and its (first) path there. */
  source: z.object({ repository: z.string(), path: z.string() }).nullable(),
  /** Id in the model list, once it is finished. */
  modelId: IdSchema.nullable(),
});

/** The loaded chat model. */
const ModelInUseSchema = z.object({
  /** In the file's header; may be empty. */
  name: z.string(),
  path: z.string(),
  adapter: z.string().optional(),
  fingerprint: z.string(),
  architecture: z.string(),
  layers: z.int(),
  /** Layers with their own keys and values. */
  kvLayers: z.int(),
  fileBytes: z.number(),
  threads: z.int(),
  /** Why its passages cannot be blended; null if they can. */
  obstacle: z.enum(BLENDING_OBSTACLES).nullable(),
  /** Maximum tokens of a chunk. */
  chunkTokens: z.int(),
});

const ById = z.object({ id: IdSchema });

export const modelsContract = {
  'models.list': procedure(NothingSchema, z.array(ModelEntrySchema)),
  /** The model in use; waits while it is loading. Error codes as models.activate. */
  'models.current': procedure(NothingSchema, ModelInUseSchema),
  'models.detail': procedure(ById, ModelDetailSchema),
  /** A GGUF header's facts about running it here; adds nothing. MODEL_NOT_FOUND, MODEL_INVALID. */
  'models.inspect': procedure(z.object({ path: z.string() }), InspectedModelSchema),
  /** Adds a GGUF in place, or copies it into the data folder. MODEL_NOT_FOUND, MODEL_INVALID, DISK_FULL. */
  'models.import': procedure(
    z.object({ path: z.string(), copy: z.boolean().default(false) }),
    ModelEntrySchema,
  ),
  /** Renames a model; '' restores the name in its file. */
  'models.rename': procedure(z.object({ id: IdSchema, name: z.string().trim().max(200) }), ModelEntrySchema),
  /**
   * Applies a LoRA adapter to a model, or removes it (null); the current model is reloaded. KV computed without it, or
   * with another, is not used with it. ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED, CONFLICT for the demo
   * model.
   */
  'models.setAdapter': procedure(
    z.object({ id: IdSchema, path: z.string().trim().min(1).nullable() }),
    ModelEntrySchema,
  ),
  /** Sets what an embedding model gets before texts; null: as its card says. Passages are then embedded again. */
  'models.setPrefixes': procedure(
    z.object({ id: IdSchema, prefixes: EmbeddingPrefixesSchema.nullable() }),
    ModelEntrySchema,
  ),
  /** Lists a server's models; sends only that request, and the key. BAD_ARGUMENT, REMOTE_*. */
  'models.askServer': procedure(AskedServerSchema, ListedServerSchema),
  /** Adds a model on a server, or updates the one with the same address and name; sends nothing. BAD_ARGUMENT. */
  'models.addServer': procedure(AddedServerSchema, ModelEntrySchema),
  /** Changes the key of a model on a server; '' deletes it. BAD_ARGUMENT for other models. */
  'models.setServerKey': procedure(
    z.object({ id: IdSchema, key: z.string().trim().max(4096) }),
    ModelEntrySchema,
  ),
  /** Removes a model; deletes the file only if Kvasir created it. The demo model stays. */
  'models.remove': procedure(ById, NothingSchema),
  'models.impact': procedure(ById, ModelImpactSchema),
  /**
   * Loads a model and makes it the one for its role; the caches of a chat model are then precomputed. Reloads the
   * current one.
   */
  'models.activate': procedure(ById, ModelEntrySchema),
  /** Stops using an embedding model or a reranker. */
  'models.deactivate': procedure(ById, NothingSchema),
  /** Downloadable models from the settings' catalogue file or URL; empty if none is set. */
  'models.catalogue': procedure(NothingSchema, z.array(CatalogueEntrySchema)),
  'models.downloads': procedure(NothingSchema, z.array(DownloadSchema)),
  /** By catalogue id, or by URL with an optional checksum. DISK_FULL if it would not fit. */
  'models.download': procedure(
    z.object({
      url: WebAddressSchema,
      name: z.string().max(200).default(''),
      sha256: z
        .string()
        .regex(/^([0-9a-f]{64})?$/i)
        .default(''),
    }),
    DownloadSchema,
  ),
  'models.pauseDownload': procedure(ById, NothingSchema),
  'models.resumeDownload': procedure(ById, NothingSchema),
  'models.cancelDownload': procedure(ById, NothingSchema),
};

export type MemoryFit = z.infer<typeof MemoryFitSchema>;
export type ModelInUse = z.infer<typeof ModelInUseSchema>;
export type EmbeddingPrefixes = z.infer<typeof EmbeddingPrefixesSchema>;
export type ModelEntry = z.infer<typeof ModelEntrySchema>;
export type InspectedModel = z.infer<typeof InspectedModelSchema>;
export type ModelDetail = z.infer<typeof ModelDetailSchema>;
export type ModelImpact = z.infer<typeof ModelImpactSchema>;
export type CatalogueEntry = z.infer<typeof CatalogueEntrySchema>;
export type Download = z.infer<typeof DownloadSchema>;
