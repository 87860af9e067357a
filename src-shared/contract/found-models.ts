import { z } from 'zod';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { FitSchema, InspectedModelSchema, ModelEntrySchema } from './models.ts';
import { procedure } from './define.ts';

/** Whose folder a model lies in; 'folder': one that the user named. */
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

/** What its header says of a model, and whether it fits. */
const FoundHeaderSchema = InspectedModelSchema.omit({ name: true, role: true }).extend({
  role: z.enum(['chat', 'embedding', 'reranker']),
  quantization: z.string(),
  parameterCount: z.number(),
  fit: FitSchema,
});

const FoundModelSchema = z.object({
  /** Of its first file. It is used where it lies: never copied, changed or deleted. */
  path: z.string(),
  /** As its app calls it: "qwen3:4b", "org/repo/file". */
  name: z.string(),
  app: z.enum(FOUND_APPS),
  /** Other apps that have the same file, or an equal one. */
  alsoIn: z.array(z.enum(FOUND_APPS)),
  /** Of all its files. */
  fileBytes: z.number(),
  /** null when it cannot be read: `failure` says why. */
  header: FoundHeaderSchema.nullable(),
  failure: FailureSchema.nullable(),
  /** Whether its app puts an adapter on it, which Kvasir does not. */
  hasAdapter: z.boolean(),
  /** In the list of models; null when it is not in it. */
  id: IdSchema.nullable(),
});

export const FoundModelsSchema = z.object({
  state: z.enum(['never', 'searching', 'done']),
  /** Files and folders looked at. */
  lookedAt: z.int(),
  /** Whether the search ended before everything was looked at, since there is too much. */
  cutShort: z.boolean(),
  /** What can be used first, the best first. */
  models: z.array(FoundModelSchema),
});

export const foundModelsContract = {
  /** What the last search found; while one goes on, what it has found so far (event 'models.found'). */
  'models.found': procedure(NothingSchema, FoundModelsSchema),
  /**
   * Looks where other programs keep models, and in the named folders; answers once that is done. Reads headers, and writes nothing. One
   * search at a time: asked again meanwhile, it begins when that one has ended.
   */
  'models.search': procedure(
    z.object({ folders: z.array(z.string().trim().min(1)).max(20).default([]) }),
    FoundModelsSchema,
  ),
  /** Takes one that was found into the list, where it lies and under its name. NOT_FOUND, MODEL_NOT_FOUND, MODEL_INVALID. */
  'models.addFound': procedure(z.object({ path: z.string() }), ModelEntrySchema),
};

export type FoundApp = (typeof FOUND_APPS)[number];
export type FoundModel = z.infer<typeof FoundModelSchema>;
export type FoundModels = z.infer<typeof FoundModelsSchema>;
