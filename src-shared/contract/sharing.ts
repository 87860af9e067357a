import { z } from 'zod';
import { procedure } from './define.ts';
import { FailureSchema, NothingSchema } from './common.ts';
import { SharingSchema } from '../sharing.ts';

/**
 * Stored separately from the settings: Redis password, S3 secret key, the encryption key of values, and the salt of
 * names.
 */
export const SHARING_SECRETS = ['password', 'secretAccessKey', 'encryptionKey', 'salt'] as const;

const SharingStatusSchema = z.object({
  /** 'out': it did not respond, and the next probe is at `retryMs`; 'wrong': invalid configuration. */
  state: z.enum(['off', 'opening', 'ready', 'out', 'wrong']),
  /** Folder, server or bucket; empty while off. */
  where: z.string(),
  writable: z.boolean(),
  encrypted: z.boolean(),
  /** Milliseconds since 1970. */
  retryMs: z.number().nullable(),
  /** Chunks waiting to be written. */
  waiting: z.int(),
  /** Since the start, or since the settings were changed. */
  written: z.int(),
  bytesWritten: z.number(),
  read: z.int(),
  bytesRead: z.number(),
  /** Values that failed verification and were not used. */
  corrupt: z.int(),
  /** Measured; null until something was looked up or read. */
  latencyMs: z.number().nullable(),
  bytesPerSecond: z.number().nullable(),
  /** The last failure, while it lasts. */
  failure: FailureSchema.nullable(),
});

const SharingInfoSchema = z.object({
  status: SharingStatusSchema,
  /** How each existing secret is stored. */
  secrets: z.partialRecord(z.enum(SHARING_SECRETS), z.enum(['keyring', 'file'])),
  /** How a new one would be stored, and in which file. */
  keeps: z.enum(['keyring', 'file']),
  secretsFile: z.string(),
});

export const sharingContract = {
  /** Sends no request. */
  'sharing.info': procedure(NothingSchema, SharingInfoSchema),
  /**
   * Stores a secret of the shared cache; '' deletes it. It cannot be read back. BAD_ARGUMENT, STORE_READ_ONLY,
   * DISK_FULL.
   */
  'sharing.setSecret': procedure(
    z.object({ name: z.enum(SHARING_SECRETS), secret: z.string().trim().max(4096) }),
    SharingInfoSchema,
  ),
  /**
   * Writes, reads and deletes a small value, or only looks it up if read-only; `failure` has the reason if that failed, `sharing` the
   * settings that were tested.
   */
  'sharing.test': procedure(
    NothingSchema,
    z.object({
      sharing: SharingSchema,
      failure: FailureSchema.nullable(),
      where: z.string(),
      ms: z.number(),
    }),
  ),
};

export type SharingSecret = (typeof SHARING_SECRETS)[number];
export type SharingStatus = z.infer<typeof SharingStatusSchema>;
export type SharingInfo = z.infer<typeof SharingInfoSchema>;
