import { z } from 'zod';
import { SamplingSchema } from './sampling.ts';
import { SharingSchema } from './sharing.ts';
import { WebAddressSchema, hasCredentials } from './web-address.ts';
import { StrategyRequestSchema } from './strategy.ts';

const MiB = 1024 * 1024;

/**
 * What a user can set, with defaults: one JSON file in the data folder, and the command line on top of it.
 * Unknown keys are kept out of the program and left alone in the file.
 */
export const SettingsSchema = z.object({
  /** Tokens in a chunk; absent means what the model recommends. */
  chunkTokens: z.int().min(16).max(8192).optional(),
  /** Chunks that go into a prompt; absent means what suits their size. */
  topK: z.int().min(1).max(256).optional(),
  /** Tokens of an answer at most. */
  maxTokens: z.int().min(1).max(65_536).default(256),
  /** Tokens of a prompt and its answer at most; the model's own limit applies too. */
  contextTokens: z.int().min(64).max(4_194_304).default(8192),
  /** How chunk KV is stored: f16 as computed, q8_0 in about half the bytes. */
  dtype: z.enum(['f16', 'q8_0']).default('f16'),
  /** How the KV of conversations is kept in memory: f16 as computed, q8_0 in about half the bytes, a little less exact. */
  conversationDtype: z.enum(['f16', 'q8_0']).default('f16'),
  /** CPU threads; 0 means what suits the model: mostly one per physical core. */
  threads: z.int().min(0).max(1024).default(0),
  /** 'auto', 'cpu' or a device's name. */
  device: z.string().min(1).default('auto'),
  /** Bytes above which a document is refused. */
  maxFileBytes: z.int().min(1).default(50_000_000),
  /** Bytes of chunk KV kept on disk and in memory. */
  diskBudgetBytes: z
    .int()
    .min(0)
    .default(20 * 1024 * MiB),
  memoryBudgetBytes: z
    .int()
    .min(0)
    .default(1024 * MiB),
  /** The same in the memory of the device that the model is on, where that has its own; absent: half of what is free there. */
  deviceBudgetBytes: z.int().min(0).optional(),
  /** By what chunks leave a full cache: the one used longest ago, or the one that is worth least by what was learned of its use. */
  eviction: z.enum(['lru', 'workload-aware']).default('workload-aware'),
  /** Whether chunks that the next question is likely to find are brought into memory ahead. */
  prefetch: z.boolean().default(true),
  /** Bytes of memory for the KV of whole conversations, so that a next turn computes only what is new. */
  conversationBudgetBytes: z
    .int()
    .min(0)
    .default(1024 * MiB),
  /**
   * Whether the model is told to answer from the passages alone, where a conversation does not say. Absent: yes, but the demo model,
   * which was trained to, need not be told.
   */
  strict: z.boolean().optional(),
  /** Sent as the system message where the model's template takes one. */
  systemPrompt: z.string().max(16_384).default(''),
  /** Whether models think before they answer, where their template leaves the choice: people wait for the first word. */
  think: z.boolean().default(false),
  /** Whether chunks computed for an answer are stored afterwards. */
  storeMisses: z.boolean().default(true),
  /** How prompts are fused where a conversation does not say. */
  strategy: StrategyRequestSchema.prefault({ name: 'auto' }),
  /** Whether the log gets a line about each answer: how it was made, nothing that was said. */
  logAnswers: z.boolean().default(false),
  /** Whether a few blended answers a day are compared with their full prefill while nothing else is to be done. */
  watchAnswers: z.boolean().default(true),
  /** Of every model without a temperature in `sampling`; 0 answers with the likeliest token every time. Absent: what suits the model. */
  temperature: z.number().min(0).max(2).optional(),
  /** How models choose their tokens, by the path of their file (of a model on a server: its address and name). Changed as a whole. */
  sampling: z.record(z.string(), SamplingSchema).default({}),
  /** Ids of the models in use; absent: the demo model, and no embedding model. After a restart for other windows. */
  chatModel: z.string().optional(),
  embeddingModel: z.string().optional(),
  /** Whether an embedding model is suggested beside a large library, until somebody says no. */
  suggestEmbedding: z.boolean().default(true),
  /** File or address of a list of models to download; see docs/formats/model-catalogue.md. Empty: none. */
  modelCatalogue: z
    .string()
    .max(2000)
    .refine((text) => !hasCredentials(text), { error: 'leave the name and password out of the address' })
    .default(''),
  /** Whether the desktop app looks for a newer version once a day, where it was made with an address for that. */
  updates: z.boolean().default(false),
  /** Address of the hub that models are searched on: the public one, a mirror, or a company's own. Asked only when somebody searches. */
  hubAddress: WebAddressSchema.default('https://huggingface.co'),
  /** The cache that several machines share: changed as a whole. */
  sharing: SharingSchema.prefault({}),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  /** 'system' follows the machine. */
  language: z.enum(['system', 'en', 'zh']).default('system'),
  /** Whether the first screen has been seen. */
  welcomed: z.boolean().default(false),
});

export type Settings = z.infer<typeof SettingsSchema>;
export type SettingsInput = z.input<typeof SettingsSchema>;

/** Settings to change: absent stays as it is, null goes back to the default. */
export type SettingsChanges = { [K in keyof Settings]?: Settings[K] | null | undefined };

/** Not SettingsSchema.partial(): that would put the defaults in for what is absent. */
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

/** One sentence for the first thing that is wrong with a value, e.g. `topK: expected number to be >=1`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return 'invalid value';
  const path = issue.path.map(String).join('.');
  return path ? `${path}: ${issue.message}` : issue.message;
}
