import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';

/** A script that succeeded. */
const doneSchema = z.object({
  /** The command line, as typed. */
  command: z.string(),
  commit: z.string(),
  seconds: z.number(),
  date: z.string(),
  /** Path of its results. */
  out: z.string().optional(),
});
export type FinishedScript = z.infer<typeof doneSchema>;

const recordSchema = z.object({
  machine: z.record(z.string(), z.unknown()),
  gpu: z.string().optional(),
  nvcc: z.string().optional(),
  /** The command that ended last. */
  command: z.string(),
  done: z.array(doneSchema),
});
export type GpuRecord = z.infer<typeof recordSchema>;

/** The record of earlier runs; undefined if the file is missing or invalid. */
export function readRecord(path: string): GpuRecord | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** A recorded run that makes this command redundant: same code, same GPU, and its results still exist. */
export function alreadyDone(
  record: GpuRecord | undefined,
  script: { command: string; commit: string; gpu: string | undefined },
): FinishedScript | undefined {
  if (record?.gpu !== script.gpu || script.commit.endsWith('+changes')) return undefined;
  return record?.done.find(
    ({ command, commit, out }) =>
      command === script.command && commit === script.commit && (out === undefined || existsSync(out)),
  );
}

/** Adds a run to the record, replacing an earlier one of the same command. Removes other GPUs' runs. */
export function writeRecord(path: string, about: Omit<GpuRecord, 'done'>, run: FinishedScript): void {
  const before = readRecord(path);
  const kept = before?.gpu === about.gpu ? (before?.done ?? []) : [];
  const done = [...kept.filter(({ command }) => command !== run.command), run];
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ ...about, done }, null, 2)}\n`);
}
