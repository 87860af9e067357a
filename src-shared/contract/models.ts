import { z } from 'zod';
import { BLENDING_OBSTACLES } from '../blending.ts';
import { procedure } from './define.ts';
import { SamplingSchema } from '../sampling.ts';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { WebAddressSchema } from '../web-address.ts';
import { AddedServerSchema, AskedServerSchema, ListedServerSchema, ServerFactsSchema } from './servers.ts';

/** Whether a model fits this machine's memory: weights, the KV of a context, and what computing needs. */
export const FitSchema = z.object({
  verdict: z.enum(['fits', 'tight', 'too-large']),
  device: z.string(),
  weightsBytes: z.number(),
  kvBytes: z.number(),
  computeBytes: z.number(),
  freeBytes: z.number(),
  contextTokens: z.int(),
});

export const ModelEntrySchema = z.object({
  id: IdSchema,
  name: z.string(),
  path: z.string(),
  origin: z.enum(['demo', 'imported', 'downloaded', 'server']),
  role: z.enum(['chat', 'embedding']),
  architecture: z.string(),
  /** Most common weight type, e.g. "q4_K". */
  quantization: z.string(),
  fileBytes: z.number(),
  parameterCount: z.number(),
  layers: z.int(),
  contextTrain: z.int(),
  /** Bytes of stored KV per token, by dtype. */
  kvBytesPerToken: z.object({ f16: z.number(), q8_0: z.number() }),
  fit: FitSchema,
  /** Why its passages cannot be blended, so that nothing is precomputed; null where they can. */
  obstacle: z.enum(BLENDING_OBSTACLES).nullable(),
  /** Empty when an engine can run it, else why none can (one sentence). */
  unsupportedReason: z.string(),
  state: z.enum(['idle', 'loading', 'ready', 'failed', 'missing']),
  failure: FailureSchema.nullable(),
  /** File of the LoRA adapter that changes it; null where there is none. */
  adapter: z.string().nullable(),
  /** Of one on a server; null: its file is here. */
  server: ServerFactsSchema.nullable(),
  /** Whether this is the model that answers (or embeds) now. */
  active: z.boolean(),
  /** What its header recommends to sample by. */
  recommendedSampling: SamplingSchema.prefault({}),
});

/** Header of a GGUF as label and value, in reading order. */
const ModelDetailSchema = z.object({
  model: ModelEntrySchema,
  header: z.array(z.object({ label: z.string(), value: z.string() })),
  /** Weight type → number of tensors. */
  tensorTypes: z.record(z.string(), z.int()),
});

/** What a file would be in the list, told before it is in it. */
export const InspectedModelSchema = ModelEntrySchema.pick({
  name: true,
  role: true,
  architecture: true,
  obstacle: true,
  unsupportedReason: true,
});

/** What making a model the active one would mean for the caches. */
const ModelImpactSchema = z.object({
  chunks: z.int(),
  /** Of these, those whose KV by this model is stored already. */
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
  role: z.enum(['chat', 'embedding']),
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
  /** 0 while the server has not said. */
  bytesTotal: z.number(),
  bytesPerSecond: z.number(),
  secondsLeft: z.number().nullable(),
  failure: FailureSchema.nullable(),
  /** Of a hub's file: in which repository, and its (first) path there. */
  source: z.object({ repository: z.string(), path: z.string() }).nullable(),
  /** In the list of models, once it is done. */
  modelId: IdSchema.nullable(),
});

const ById = z.object({ id: IdSchema });

export const modelsContract = {
  'models.list': procedure(NothingSchema, z.array(ModelEntrySchema)),
  'models.detail': procedure(ById, ModelDetailSchema),
  /** What a GGUF's header says of running it here; nothing is added. MODEL_NOT_FOUND, MODEL_INVALID. */
  'models.inspect': procedure(z.object({ path: z.string() }), InspectedModelSchema),
  /** Adds a GGUF where it lies, or copies it into the data folder. MODEL_NOT_FOUND, MODEL_INVALID, DISK_FULL. */
  'models.import': procedure(
    z.object({ path: z.string(), copy: z.boolean().default(false) }),
    ModelEntrySchema,
  ),
  /** Shows a model under another name; '' brings back the one in its file. */
  'models.rename': procedure(z.object({ id: IdSchema, name: z.string().trim().max(200) }), ModelEntrySchema),
  /**
   * Puts a LoRA adapter on a model, or takes it off (null); the model in use is loaded again. What was computed without it, or with
   * another, is not used with it. ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED, CONFLICT for the demo model.
   */
  'models.setAdapter': procedure(
    z.object({ id: IdSchema, path: z.string().trim().min(1).nullable() }),
    ModelEntrySchema,
  ),
  /** Which models a server has; it is sent nothing but that question, and the key. BAD_ARGUMENT, REMOTE_*. */
  'models.askServer': procedure(AskedServerSchema, ListedServerSchema),
  /** Adds a model that is on a server, or changes one of the same address and name; nothing is sent. BAD_ARGUMENT. */
  'models.addServer': procedure(AddedServerSchema, ModelEntrySchema),
  /** Another key for a model on a server; '' forgets it. BAD_ARGUMENT for a model that is on none. */
  'models.setServerKey': procedure(
    z.object({ id: IdSchema, key: z.string().trim().max(4096) }),
    ModelEntrySchema,
  ),
  /** Forgets a model; deletes the file only when Kvasir put it there. The demo model stays. */
  'models.remove': procedure(ById, NothingSchema),
  'models.impact': procedure(ById, ModelImpactSchema),
  /** Loads a model and makes it the one that answers (or embeds); its caches are then precomputed. The one in use is loaded again. */
  'models.activate': procedure(ById, ModelEntrySchema),
  /** Stops using an embedding model. */
  'models.deactivate': procedure(ById, NothingSchema),
  /** The list of models to download, from the settings' catalogue file or address; empty when none is set. */
  'models.catalogue': procedure(NothingSchema, z.array(CatalogueEntrySchema)),
  'models.downloads': procedure(NothingSchema, z.array(DownloadSchema)),
  /** By catalogue id, or by address with an optional checksum. DISK_FULL when it would not fit. */
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

export type Fit = z.infer<typeof FitSchema>;
export type ModelEntry = z.infer<typeof ModelEntrySchema>;
export type InspectedModel = z.infer<typeof InspectedModelSchema>;
export type ModelDetail = z.infer<typeof ModelDetailSchema>;
export type ModelImpact = z.infer<typeof ModelImpactSchema>;
export type CatalogueEntry = z.infer<typeof CatalogueEntrySchema>;
export type Download = z.infer<typeof DownloadSchema>;
