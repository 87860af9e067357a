import { z } from 'zod';
import { FailureSchema, IdSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';
import { DownloadSchema, MemoryFitSchema, InspectedModelSchema } from './models.ts';

/** "owner/name", or a name alone. */
const RepositorySchema = z
  .string()
  .max(200)
  .regex(/^(?!\.)[\w.-]+(\/(?!\.)[\w.-]+)?$/);

/** The model's role; 'other': unsupported by Kvasir; null: not given by the repository. */
const RoleSchema = z.enum(['chat', 'embedding', 'reranker', 'other']).nullable();

/** Whether terms must be accepted on the repository's page; access is then granted automatically or by its owner. */
const GatedSchema = z.enum(['no', 'auto', 'manual']);

const HubEntrySchema = z.object({
  repository: RepositorySchema,
  role: RoleSchema,
  /** From the repository's tags, e.g. "apache-2.0"; empty if missing. */
  license: z.string(),
  gated: GatedSchema,
  downloads: z.number(),
  /** 0 while unknown. */
  updatedMs: z.number(),
  /** Parameters of the model; null if the hub does not give them. */
  parameterCount: z.number().nullable(),
  architecture: z.string(),
});

/** One quantisation of a model, in one file or several. */
const HubFileSchema = z.object({
  /** Of its first file in the repository. */
  path: z.string(),
  /** From the file name, e.g. "Q4_K_M"; empty if it has none. */
  quantization: z.string(),
  bytes: z.number(),
  parts: z.int(),
  /** null until the model's header is known. */
  fit: MemoryFitSchema.nullable(),
  /** Expected tokens a second on this machine, from measurements of other models; null if there are none. */
  speed: z.object({ reading: z.number().nullable(), writing: z.number().nullable() }),
  /** Why this one is recommended; null: it is not. */
  recommended: z.enum(['largest', 'smallest', 'usual']).nullable(),
  /** The local model downloaded from it; `same`: whether the hub still has the same file. */
  local: z.object({ id: IdSchema, same: z.boolean() }).nullable(),
});

const HubRepositorySchema = HubEntrySchema.extend({
  /** Commit of this information, from which files are downloaded. */
  revision: z.string(),
  /** Its web page, where terms are accepted. */
  page: z.string(),
  /** Facts from the header of its files; null if it could not be read: the reason is in `failure`. */
  header: InspectedModelSchema.omit({ name: true, role: true })
    .extend({ contextTrain: z.int(), parameterCount: z.number() })
    .nullable(),
  failure: FailureSchema.nullable(),
  files: z.array(HubFileSchema),
  /** Files that are not models. */
  others: z.array(
    z.object({ path: z.string(), kind: z.enum(['projector', 'imatrix', 'incomplete', 'unsummed']) }),
  ),
  /** Throughput of the header's download; null if it was too small to measure. */
  bytesPerSecond: z.number().nullable(),
});

/** A suggested first model for a machine like this one. */
const StartingPointSchema = z.object({
  repository: RepositorySchema,
  role: z.enum(['chat', 'embedding', 'reranker']),
  license: z.string(),
  gated: GatedSchema,
  revision: z.string(),
  file: HubFileSchema.pick({ path: true, quantization: true, bytes: true, parts: true, local: true }),
});

const HubInfoSchema = z.object({
  address: z.string(),
  host: z.string(),
  /** Where the token for this hub is stored; 'none': there is none. */
  token: z.enum(['none', 'keyring', 'file']),
  /** Where a new one would be stored. */
  keeps: z.enum(['keyring', 'file']),
  /** File in which it is stored, in plain text or encrypted with the keyring's key. */
  tokenFile: z.string(),
  /** Memory and GPU of the machine that the starting points are for. */
  machine: z.object({ memoryGb: z.number(), gpu: z.boolean() }),
});

export const hubContract = {
  /** Sends no request. */
  'hub.info': procedure(NothingSchema, HubInfoSchema),
  /**
   * Stores a token for the hub in the settings, and sends it only there; '' deletes it. BAD_ARGUMENT, STORE_READ_ONLY.
   */
  'hub.setToken': procedure(z.object({ token: z.string().trim().max(1000) }), HubInfoSchema),
  /**
   * HUB_UNREACHABLE, and refusals of the hub: HUB_TOKEN, HUB_GATED, HUB_CHANGED, DOWNLOAD_FAILED; also for the
   * procedures below.
   */
  'hub.start': procedure(NothingSchema, z.array(StartingPointSchema)),
  /** Repositories with GGUF files, most downloaded first; pass `next` to get the following ones. */
  'hub.search': procedure(
    z.object({ query: z.string().trim().max(200), cursor: z.string().max(2000).default('') }),
    z.object({ entries: z.array(HubEntrySchema), next: z.string() }),
  ),
  'hub.repository': procedure(z.object({ repository: RepositorySchema }), HubRepositorySchema),
  /** Downloads one quantisation, given its first file. DISK_FULL. */
  'hub.download': procedure(
    z.object({
      repository: RepositorySchema,
      revision: z.string().regex(/^[\w.-]{1,100}$/),
      path: z.string().max(500),
    }),
    DownloadSchema,
  ),
};

/** A model's origin on a hub. */
export interface HubSource {
  /** URL of the hub. */
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
