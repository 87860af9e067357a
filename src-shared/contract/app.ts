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

const ExportReportSchema = z.object({
  /** The ZIP file or folder. */
  path: z.string(),
  files: z.int(),
  bytes: z.number(),
  /** Documents whose original is not in it, or only in part: how many, and the first of them. */
  incomplete: z.int(),
  named: z.array(z.object({ path: z.string(), reason: z.string() })),
});

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
  /**
   * Writes everything that people wrote, gave or chose, in open formats, to a full path: a ZIP file if it ends in .zip,
   * else a folder, which gets a new folder for it unless it is missing or empty. Progress is sent as
   * 'exports.progress'. BAD_ARGUMENT, DISK_FULL, STORE_READ_ONLY; ABORTED by app.stopExport.
   */
  'app.export': procedure(z.object({ to: z.string().min(1).max(4096) }), ExportReportSchema),
  'app.stopExport': procedure(NothingSchema, NothingSchema),
  /** Replaces the data with a backup's at the next start. Nothing is lost: the current data is backed up first. */
  'app.restore': procedure(z.object({ path: z.string() }), z.object({ restartNeeded: z.boolean() })),
  /** Restarts Kvasir; BAD_ARGUMENT if the host cannot. */
  'app.restart': procedure(NothingSchema, NothingSchema),
};

export type AppInfo = z.infer<typeof AppInfoSchema>;
export type ExportReport = z.infer<typeof ExportReportSchema>;
export type Backup = z.infer<typeof BackupSchema>;
