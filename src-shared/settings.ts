import { z } from 'zod';
import { KvDtypeSchema, SessionDtypeSchema } from './kv-dtype.ts';
import { SamplingSchema } from './sampling.ts';
import { SharingSchema } from './sharing.ts';
import { WebAddressSchema, hasCredentials } from './web-address.ts';
import { StrategyRequestSchema } from './strategy.ts';

const MiB = 1024 * 1024;

const CacheFolderSchema = z.object({
  /** Of the file `folder.json` there. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  path: z.string().min(1).max(4096),
  budgetBytes: z.int().min(0),
  /** In any currency; absent: unknown. */
  pricePerGb: z.number().min(0).optional(),
});
export type CacheFolderSetting = z.infer<typeof CacheFolderSchema>;

/**
 * User settings with defaults: one JSON file in the data folder, overridden by the command line. Unknown keys are
 * ignored by the program and preserved in the file.
 */
export const SettingsSchema = z.object({
  /** Chunk size in tokens; absent: the model's default. */
  chunkTokens: z.int().min(16).max(8192).optional(),
  /** Number of chunks in a prompt; absent: a default for their size. */
  topK: z.int().min(1).max(256).optional(),
  /** Maximum tokens of an answer. */
  maxTokens: z.int().min(1).max(65_536).default(256),
  /** Maximum tokens of a prompt and its answer; the model's own limit applies too. */
  contextTokens: z.int().min(64).max(4_194_304).default(8192),
  /** Data type of stored chunk KV: f16 as computed, q8_0 in about half the bytes. */
  dtype: KvDtypeSchema.default('f16'),
  /** Data type of conversation KV in memory: f16 as computed, q8_0 in about half the bytes, slightly less exact. */
  conversationDtype: SessionDtypeSchema.default('f16'),
  /** CPU threads; 0: a default for the model, usually one per physical core. */
  threads: z.int().min(0).max(1024).default(0),
  /** 'auto', 'cpu' or a device's name. */
  device: z.string().min(1).default('auto'),
  /** Size limit of a document in bytes. */
  maxFileBytes: z.int().min(1).default(50_000_000),
  /** Whether to recognise the text of pages that are pictures. */
  recognise: z.boolean().default(true),
  /** Bytes of chunk KV kept on disk; absent: 20 GiB, and Kvasir proposes another budget from the free space. */
  diskBudgetBytes: z.int().min(0).optional(),
  /** Price of a gigabyte on that disk, in any currency, to compare it with cacheFolders; absent: unknown. */
  diskPricePerGb: z.number().min(0).optional(),
  /**
   * Further folders for chunk KV, such as one on a big slow disk: replaced as a whole. Added by cache.addFolder, which
   * prepares the folder; of one that is left out the files stay, unused.
   */
  cacheFolders: z.array(CacheFolderSchema).max(16).default([]),
  /** The same in memory. */
  memoryBudgetBytes: z
    .int()
    .min(0)
    .default(1024 * MiB),
  /**
   * The same for the memory of the model's device, if it has separate memory; absent: half of the free memory there.
   */
  deviceBudgetBytes: z.int().min(0).optional(),
  /** Eviction policy of chunks: least recently used, or least valuable according to learned usage. Prefixes leave by least recent use. */
  eviction: z.enum(['lru', 'workload-aware']).default('workload-aware'),
  /** Whether to prefetch chunks that the next question is likely to use. */
  prefetch: z.boolean().default(true),
  /** Memory in bytes for the KV of whole conversations, so that the next turn only computes new tokens. */
  conversationBudgetBytes: z
    .int()
    .min(0)
    .default(1024 * MiB),
  /**
   * Whether to instruct the model to answer only from the passages, unless the conversation sets it. Absent: yes,
   * except for the demo model, which was trained to.
   */
  strict: z.boolean().optional(),
  /** Sent as the system message if the model's template supports one. */
  systemPrompt: z.string().max(16_384).default(''),
  /** Whether models think before they answer, if their template offers the choice: thinking delays the first word. */
  think: z.boolean().default(false),
  /** Whether to store chunks computed for an answer. */
  storeMisses: z.boolean().default(true),
  /** Blending strategy, unless the conversation sets one. */
  strategy: StrategyRequestSchema.prefault({ name: 'auto' }),
  /** Whether to log a line about each answer: the method, but nothing that was said. */
  logAnswers: z.boolean().default(false),
  /** Whether to compare a few blended answers a day with their full prefill when idle. */
  watchAnswers: z.boolean().default(true),
  /**
   * For every model without a temperature in `sampling`; 0 always picks the most likely token. Absent: a default for
   * the model.
   */
  temperature: z.number().min(0).max(2).optional(),
  /** Sampling settings of models, by file path (for a remote model: address and name). Replaced as a whole. */
  sampling: z.record(z.string(), SamplingSchema).default({}),
  /**
   * Ids of the current models; absent: the demo model, no embedding model and no reranker. Other windows apply it after a restart.
   */
  chatModel: z.string().optional(),
  embeddingModel: z.string().optional(),
  rerankModel: z.string().optional(),
  /** Whether to suggest an embedding model for a large library, until the user declines. */
  suggestEmbedding: z.boolean().default(true),
  /** File or URL of a list of downloadable models; see docs/formats/model-catalogue.md. Empty: none. */
  modelCatalogue: z
    .string()
    .max(2000)
    .refine((text) => !hasCredentials(text), { error: 'leave the name and password out of the address' })
    .default(''),
  /** Whether the desktop app checks for updates once a day, if it was built with an update URL. */
  updates: z.boolean().default(false),
  /** URL of the model hub: the public one, a mirror, or a company's own. Contacted only when the user searches. */
  hubAddress: WebAddressSchema.default('https://huggingface.co'),
  /** The shared cache: replaced as a whole. */
  sharing: SharingSchema.prefault({}),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  /** 'system' follows the machine. */
  language: z.enum(['system', 'en', 'zh']).default('system'),
  /** Whether the first screen has been seen. */
  welcomed: z.boolean().default(false),
});

export type Settings = z.infer<typeof SettingsSchema>;
export type SettingsInput = z.input<typeof SettingsSchema>;

/** Settings to change: an absent value stays, null restores the default. */
export type SettingsChanges = { [K in keyof Settings]?: Settings[K] | null | undefined };

/** Not SettingsSchema.partial(): that would fill in defaults for absent values. */
export const SettingsChangesSchema: z.ZodType<SettingsChanges, SettingsChanges> = z.object(
  Object.fromEntries(
    Object.entries(SettingsSchema.shape).map(([key, schema]) => [
      key,
      withoutDefault(schema).nullable().optional(),
    ]),
  ),
);

function withoutDefault(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return withoutDefault(schema.unwrap() as z.ZodType);
  }
  return schema;
}

/** One sentence for the first invalid part of a value, e.g. `topK: expected number to be >=1`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return 'invalid value';
  const path = issue.path.map(String).join('.');
  return path ? `${path}: ${issue.message}` : issue.message;
}
