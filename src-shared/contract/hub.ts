import { z } from 'zod';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';
import { DownloadSchema, FitSchema, InspectedModelSchema } from './models.ts';

/** "owner/name", or a name alone. */
const RepositorySchema = z
  .string()
  .max(200)
  .regex(/^(?!\.)[\w.-]+(\/(?!\.)[\w.-]+)?$/);

/** What a model is for; 'other': nothing that Kvasir does; null: its repository does not say. */
const RoleSchema = z.enum(['chat', 'embedding', 'reranker', 'other']).nullable();

/** Whether terms have to be accepted on the repository's page: those who do are let in at once, or one by one by its owner. */
const GatedSchema = z.enum(['no', 'auto', 'manual']);

const HubEntrySchema = z.object({
  repository: RepositorySchema,
  role: RoleSchema,
  /** As the repository's tags name it, e.g. "apache-2.0"; empty when they do not. */
  license: z.string(),
  gated: GatedSchema,
  downloads: z.number(),
  likes: z.number(),
  /** 0 while unknown. */
  updatedMs: z.number(),
  /** Of the model; null while the hub does not say. */
  parameterCount: z.number().nullable(),
  architecture: z.string(),
});

/** One quantisation of a model, in one file or several. */
const HubFileSchema = z.object({
  /** Of its first file in the repository. */
  path: z.string(),
  /** As its file name tells, e.g. "Q4_K_M"; empty when it does not. */
  quantization: z.string(),
  bytes: z.number(),
  parts: z.int(),
  /** null while the model's header is unknown. */
  fit: FitSchema.nullable(),
  /** Tokens a second to expect here, by what other models were measured to do; null when none was. */
  speed: z.object({ reading: z.number().nullable(), writing: z.number().nullable() }),
  /** Why this one is recommended; null: it is not. */
  recommended: z.enum(['largest', 'smallest', 'usual']).nullable(),
  /** The model in the list that it was downloaded as; `same`: whether the hub has the very same file still. */
  local: z.object({ id: IdSchema, same: z.boolean() }).nullable(),
});

const HubRepositorySchema = HubEntrySchema.extend({
  /** Commit that all of this was read at, and that files are downloaded from. */
  revision: z.string(),
  /** Its page, where terms are accepted. */
  page: z.string(),
  /** What the header of its files says; null when it could not be read: `failure` says why. */
  header: InspectedModelSchema.omit({ name: true, role: true })
    .extend({ contextTrain: z.int(), parameterCount: z.number() })
    .nullable(),
  failure: FailureSchema.nullable(),
  files: z.array(HubFileSchema),
  /** Files that are no model by themselves. */
  others: z.array(
    z.object({ path: z.string(), kind: z.enum(['projector', 'imatrix', 'incomplete', 'unsummed']) }),
  ),
  /** How fast the header came; null when it was too small to tell. */
  bytesPerSecond: z.number().nullable(),
});

/** A model to begin with on a machine like this one. */
const StartingPointSchema = z.object({
  repository: RepositorySchema,
  role: z.enum(['chat', 'embedding']),
  license: z.string(),
  gated: GatedSchema,
  revision: z.string(),
  file: HubFileSchema.pick({ path: true, quantization: true, bytes: true, parts: true, local: true }),
});

const HubInfoSchema = z.object({
  address: z.string(),
  host: z.string(),
  /** Where the token for this hub is kept; 'none': there is none. */
  token: z.enum(['none', 'keyring', 'file']),
  /** Where one that is entered would be kept. */
  keeps: z.enum(['keyring', 'file']),
  /** File in which it is kept, by itself or encrypted with the keyring's key. */
  tokenFile: z.string(),
  /** Memory and graphics card of the machine that starting points are for. */
  machine: z.object({ memoryGb: z.number(), gpu: z.boolean() }),
});

export const hubContract = {
  /** Asks nobody. */
  'hub.info': procedure(NothingSchema, HubInfoSchema),
  /** Keeps a token for the hub of the settings, and sends it to that one alone; '' forgets it. BAD_ARGUMENT, STORE_READ_ONLY. */
  'hub.setToken': procedure(z.object({ token: z.string().trim().max(1000) }), HubInfoSchema),
  /** HUB_UNREACHABLE, and what the hub refuses: HUB_TOKEN, HUB_GATED, HUB_CHANGED, DOWNLOAD_FAILED; so below. */
  'hub.start': procedure(NothingSchema, z.array(StartingPointSchema)),
  /** Repositories with GGUF files, the most downloaded first; `next` is handed in again for those that follow. */
  'hub.search': procedure(
    z.object({ query: z.string().trim().max(200), cursor: z.string().max(2000).default('') }),
    z.object({ entries: z.array(HubEntrySchema), next: z.string() }),
  ),
  'hub.repository': procedure(z.object({ repository: RepositorySchema }), HubRepositorySchema),
  /** Downloads one quantisation, by its first file. DISK_FULL. */
  'hub.download': procedure(
    z.object({
      repository: RepositorySchema,
      revision: z.string().regex(/^[\w.-]{1,100}$/),
      path: z.string().max(500),
    }),
    DownloadSchema,
  ),
};

/** Where on a hub a model came from. */
export interface HubSource {
  /** Address of the hub. */
  hub: string;
  repository: string;
  revision: string;
  /** Of its first file in the repository. */
  path: string;
  /** Of that file. */
  sha256: string;
}

export type HubEntry = z.infer<typeof HubEntrySchema>;
export type HubFile = z.infer<typeof HubFileSchema>;
export type HubRepository = z.infer<typeof HubRepositorySchema>;
export type HubInfo = z.infer<typeof HubInfoSchema>;
export type StartingPoint = z.infer<typeof StartingPointSchema>;
