import { z } from 'zod';
import { procedure } from './define.ts';
import { FailureSchema, NothingSchema } from './common.ts';

const AppInfoSchema = z.object({
  version: z.string(),
  host: z.enum(['electron', 'server']),
  platform: z.string(),
  dataDir: z.string(),
  engine: z.object({ ggml: z.string(), addon: z.string() }),
  memoryFree: z.number(),
  memoryTotal: z.number(),
  /** Bytes; null if the disk does not report them. */
  diskFree: z.number().nullable(),
  /** Whether the host can open the system's file dialogs (choosePaths). */
  nativeDialogs: z.boolean(),
  /** Whether the host can check for updates. */
  updates: z.boolean(),
  /** Whether the host can restart Kvasir (app.restart). */
  restarts: z.boolean(),
  /** Whether a backup will replace the data at the next start. */
  restoreWaiting: z.boolean(),
});

const BackupSchema = z.object({ path: z.string(), bytes: z.number(), createdMs: z.number() });

export const appContract = {
  'app.info': procedure(NothingSchema, AppInfoSchema),
  /** Findings of the start that have not been reported yet, e.g. damaged data that was set aside. */
  'app.found': procedure(NothingSchema, z.array(FailureSchema)),
  /** Opens the system's dialog. Empty if the user cancels; BAD_ARGUMENT if the host has no dialogs. */
  'app.choosePaths': procedure(
    z.object({ kind: z.enum(['documents', 'folder', 'model', 'backup']) }),
    z.object({ paths: z.array(z.string()) }),
  ),
  /** Shows a file or the data folder in the system's file manager; does nothing in the headless host. */
  'app.reveal': procedure(z.object({ path: z.string() }), NothingSchema),
  /** Documents, conversations and settings (but not the KV cache, which can be recomputed) in one file. */
  'app.backup': procedure(NothingSchema, BackupSchema),
  'app.backups': procedure(NothingSchema, z.array(BackupSchema)),
  /** Replaces the data with a backup's at the next start. Nothing is lost: the current data is backed up first. */
  'app.restore': procedure(z.object({ path: z.string() }), z.object({ restartNeeded: z.boolean() })),
  /** Restarts Kvasir; BAD_ARGUMENT if the host cannot. */
  'app.restart': procedure(NothingSchema, NothingSchema),
};

export type AppInfo = z.infer<typeof AppInfoSchema>;
export type Backup = z.infer<typeof BackupSchema>;
