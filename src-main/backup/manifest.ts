import { z } from 'zod';
import { KvasirError } from '../../src-shared/errors.ts';

export const MANIFEST_NAME = 'manifest.json';

/** Databases by their names in the data folder. */
export const DATABASE_FILES = [
  'catalogue.sqlite',
  'conversations.sqlite',
  'analyses.sqlite',
  'watching.sqlite',
  'models.sqlite',
] as const;

export type Schemas = Readonly<Record<(typeof DATABASE_FILES)[number], readonly string[]>>;

/** Files next to the databases. */
export const PLAIN_FILES: readonly string[] = ['settings.json'];

/** Copies of uploaded documents. */
export const UPLOADS = 'libraries';

export const ManifestSchema = z.object({
  kind: z.literal('kvasir-backup'),
  version: z.literal(1),
  createdMs: z.number().min(0).max(8.64e15),
  program: z.string().max(100),
  /** The data folder that was backed up: paths in the databases begin with it. */
  dataDir: z.string(),
  files: z
    .array(
      z.object({
        /** Relative, with forward slashes. */
        name: z.string(),
        bytes: z.int().min(0),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .max(1_000_000),
});

export type Manifest = z.infer<typeof ManifestSchema>;

/** Whether a backup may contain a file of this name: only files that Kvasir writes, none outside its folder. */
export function isKnownName(name: string): boolean {
  if ([...DATABASE_FILES, ...PLAIN_FILES].includes(name)) return true;
  const parts = name.split('/');
  return (
    parts[0] === UPLOADS &&
    parts.length > 2 &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\:\0]/.test(part))
  );
}

export function invalidBackup(why: string, cause?: unknown): KvasirError {
  const advice = 'Choose another backup.';
  return new KvasirError('BACKUP_INVALID', `This backup cannot be restored: ${why}.`, advice, { cause });
}
