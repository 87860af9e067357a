import { z } from 'zod';
import { WebAddressSchema } from './web-address.ts';

const MB = 1e6;

/** Where chunk files are shared with other machines. Secrets are stored separately (contract/sharing.ts). */
export const SharingSchema = z.object({
  kind: z.enum(['off', 'folder', 'redis', 's3']).default('off'),
  /** Reads values of other machines, but writes nothing. */
  readOnly: z.boolean().default(false),
  /**
   * Values are encrypted, or nothing is shared. Set and cleared with the key, which is stored separately and may be
   * lost.
   */
  encrypted: z.boolean().default(false),
  folder: z
    .object({
      path: z.string().max(4096).default(''),
      /** Size limit; the least recently used values are deleted first. 0: no limit. */
      limitBytes: z.number().min(0).default(0),
    })
    .prefault({}),
  redis: z
    .object({
      host: z.string().trim().max(255).default(''),
      port: z.int().min(1).max(65_535).default(6379),
      tls: z.boolean().default(true),
      user: z.string().trim().max(255).default(''),
      database: z.int().min(0).max(10_000).default(0),
      /** Prefix of every key. */
      prefix: z.string().max(200).default('kvasir:'),
      /** Expiry in seconds; 0: never. */
      expireSeconds: z
        .int()
        .min(0)
        .default(30 * 86_400),
      /** Larger values are not written. Redis accepts at most 512 MB. */
      largestBytes: z
        .number()
        .min(1)
        .max(512 * MB)
        .default(128 * MB),
    })
    .prefault({}),
  s3: z
    .object({
      /** Empty: Amazon's endpoint for the region. */
      endpoint: z.union([z.literal(''), WebAddressSchema]).default(''),
      region: z.string().trim().min(1).max(100).default('us-east-1'),
      bucket: z.string().trim().max(255).default(''),
      /** Puts the bucket in the path rather than in the host name. */
      pathStyle: z.boolean().default(true),
      prefix: z.string().max(200).default('kvasir/'),
      accessKeyId: z.string().trim().max(255).default(''),
    })
    .prefault({}),
  /** File of additional trusted CA certificates (PEM); empty: none. */
  authorities: z.string().max(4096).default(''),
});

export type Sharing = z.infer<typeof SharingSchema>;
