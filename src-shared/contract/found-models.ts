import { z } from 'zod';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { MemoryFitSchema, InspectedModelSchema, ModelEntrySchema } from './models.ts';
import { procedure } from './define.ts';

/** The program whose folder contains the model; 'folder': a folder from the user. */
const FOUND_APPS = [
  'lm-studio',
  'ollama',
  'jan',
  'gpt4all',
  'msty',
  'hugging-face',
  'llama-cpp',
  'folder',
] as const;

/** Header facts of a model, and whether it fits. */
const FoundHeaderSchema = InspectedModelSchema.omit({ name: true, role: true }).extend({
  role: z.enum(['chat', 'embedding', 'reranker']),
  quantization: z.string(),
  parameterCount: z.number(),
  fit: MemoryFitSchema,
});

const FoundModelSchema = z.object({
  /** Path of its first file. The file is used in place: never copied, changed or deleted. */
  path: z.string(),
  /** The program's name for it: "qwen3:4b", "org/repo/file". */
  name: z.string(),
  app: z.enum(FOUND_APPS),
  /** Other programs that have the same file or an equal one. */
  alsoIn: z.array(z.enum(FOUND_APPS)),
  /** Total size of its files. */
  fileBytes: z.number(),
  /** null if it cannot be read; the reason is in `failure`. */
  header: FoundHeaderSchema.nullable(),
  failure: FailureSchema.nullable(),
  /** Whether its program applies an adapter, which Kvasir does not. */
  hasAdapter: z.boolean(),
  /** Id in the model list; null if it is not listed. */
  id: IdSchema.nullable(),
});

export const FoundModelsSchema = z.object({
  state: z.enum(['never', 'searching', 'done']),
  /** Files and folders visited. */
  lookedAt: z.int(),
  /** Whether the search stopped early because of its limits. */
  cutShort: z.boolean(),
  /** Usable models first, best first. */
  models: z.array(FoundModelSchema),
});

export const foundModelsContract = {
  /** Results of the last search, or interim results of the current one (event 'models.found'). */
  'models.found': procedure(NothingSchema, FoundModelsSchema),
  /**
   * Searches the folders of other programs, and the given folders; responds when done. Reads headers, and writes
   * nothing. One search at a time: further calls wait for the current one.
   */
  'models.search': procedure(
    z.object({ folders: z.array(z.string().trim().min(1)).max(20).default([]) }),
    FoundModelsSchema,
  ),
  /** Adds a found model to the list, in place and under its name. NOT_FOUND, MODEL_NOT_FOUND, MODEL_INVALID. */
  'models.addFound': procedure(z.object({ path: z.string() }), ModelEntrySchema),
};

export type FoundApp = (typeof FOUND_APPS)[number];
export type FoundModel = z.infer<typeof FoundModelSchema>;
export type FoundModels = z.infer<typeof FoundModelsSchema>;
