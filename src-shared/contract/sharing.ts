import { z } from 'zod';
import { procedure } from './define.ts';
import { FailureSchema, NothingSchema } from './common.ts';

/** Kept apart from the settings: password of Redis, secret key of S3, the key that values are encrypted with, the names' salt. */
export const SHARING_SECRETS = ['password', 'secretAccessKey', 'encryptionKey', 'salt'] as const;

const SharingStatusSchema = z.object({
  /** 'out': it did not answer, and is asked again at `retryMs`; 'wrong': it cannot be used as it is set. */
  state: z.enum(['off', 'opening', 'ready', 'out', 'wrong']),
  /** Folder, server or bucket; empty while off. */
  where: z.string(),
  writable: z.boolean(),
  encrypted: z.boolean(),
  /** Milliseconds since 1970. */
  retryMs: z.number().nullable(),
  /** Chunks that wait to be written. */
  waiting: z.int(),
  /** Since Kvasir was started, or since the settings were changed. */
  written: z.int(),
  bytesWritten: z.number(),
  read: z.int(),
  bytesRead: z.number(),
  /** Values that were not as they were written, and were not used. */
  corrupt: z.int(),
  /** Measured; null until something was asked or read. */
  latencyMs: z.number().nullable(),
  bytesPerSecond: z.number().nullable(),
  /** What went wrong last, while it holds. */
  failure: FailureSchema.nullable(),
});

const SharingInfoSchema = z.object({
  status: SharingStatusSchema,
  /** How each secret is kept that is set. */
  secrets: z.partialRecord(z.enum(SHARING_SECRETS), z.enum(['keyring', 'file'])),
  /** How one that is entered would be kept, and in which file. */
  keeps: z.enum(['keyring', 'file']),
  secretsFile: z.string(),
});

export const sharingContract = {
  /** Asks nobody but this machine. */
  'sharing.info': procedure(NothingSchema, SharingInfoSchema),
  /** Keeps a secret of the shared cache; '' forgets it. It cannot be read again. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  'sharing.setSecret': procedure(
    z.object({ name: z.enum(SHARING_SECRETS), secret: z.string().trim().max(4096) }),
    SharingInfoSchema,
  ),
  /** Writes, reads and deletes a small value, or only looks where nothing may be written; `failure` says why that did not work. */
  'sharing.test': procedure(
    NothingSchema,
    z.object({ failure: FailureSchema.nullable(), where: z.string(), ms: z.number() }),
  ),
};

export type SharingSecret = (typeof SHARING_SECRETS)[number];
export type SharingStatus = z.infer<typeof SharingStatusSchema>;
export type SharingInfo = z.infer<typeof SharingInfoSchema>;
