import { copyFileSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parse, type ParseError } from 'jsonc-parser';
import { z } from 'zod';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import {
  SettingsSchema,
  firstIssue,
  type Settings,
  type SettingsChanges,
} from '../../src-shared/settings.ts';
import { fileError } from './paths.ts';
import { replaceFile } from './replace-file.ts';

/** More threads than available cores would wait for each other. */
const HereSchema = SettingsSchema.extend({
  threads: z.int().min(0).max(availableParallelism()).default(0),
});

/** A setting with an unusable value. */
export interface InvalidSetting {
  name: string;
  asked: unknown;
  /** undefined: the default. */
  used: number | undefined;
}

interface SettingsFile {
  values: Record<string, unknown>;
  /** Why the file, or part of it, cannot be used; undefined if it is sound or missing. */
  damage: string | undefined;
}

/**
 * Keeps usable values, one by one: a number out of range becomes the nearest possible one, since the file may come from
 * a larger machine; invalid values are dropped in favour of their defaults. Unknown keys stay.
 */
export function usable(given: Record<string, unknown>): {
  settings: Record<string, unknown>;
  adjusted: InvalidSetting[];
} {
  const settings = { ...given };
  const adjusted: InvalidSetting[] = [];
  for (const [name, schema] of Object.entries(HereSchema.shape)) {
    if (settings[name] === undefined || schema.safeParse(settings[name]).success) continue;
    const used = nearest(settings[name], schema);
    adjusted.push({ name, asked: settings[name], used });
    settings[name] = used;
  }
  return { settings, adjusted };
}

/** The valid number closest to the given one, also if it is written as text. */
function nearest(asked: unknown, schema: z.ZodType): number | undefined {
  const value = typeof asked === 'string' && asked.trim() !== '' ? Number(asked) : asked;
  if (typeof value !== 'number') return undefined;
  const { error } = schema.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!issue) return value;
  const bound = issue.code === 'too_big' ? issue.maximum : issue.code === 'too_small' ? issue.minimum : NaN;
  return schema.safeParse(Number(bound)).success ? Number(bound) : undefined;
}

/** The message for such a value. */
export function adjustedFailure({ name, asked, used }: InvalidSetting): Failure {
  const written = JSON.stringify(asked)
    .replaceAll(/\/\/[^/"]*@/g, '//…@')
    .slice(0, 80);
  return {
    code: 'SETTING_ADJUSTED',
    message: `The setting ${name} is ${written}, which cannot be used on this machine: ${used ?? 'its default'} is used.`,
    advice: 'Choose another value in the settings if this one does not suit you.',
    values: { setting: name, asked: written, used: used === undefined ? 'default' : String(used) },
  };
}

/** Validates a complete set of settings. BAD_ARGUMENT. */
export function parseSettings(value: unknown): Settings {
  const result = SettingsSchema.safeParse(value);
  if (result.success) return result.data;
  throw new KvasirError(
    'BAD_ARGUMENT',
    `The settings cannot be used: ${firstIssue(result.error)}.`,
    'Correct the value.',
    {
      cause: result.error,
    },
  );
}

/** Changes some settings. Unknown keys are kept. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
export function writeSettings(path: string, changes: SettingsChanges): Settings {
  const merged = withChanges(usable(readSettingsFile(path).values).settings, changes);
  const settings = parseSettings(merged);
  try {
    replaceFile(path, `${JSON.stringify(merged, null, 2)}\n`);
  } catch (error) {
    throw fileError(error, `The settings file ${path} could not be written`);
  }
  return settings;
}

/** undefined keeps a value, null removes it. */
export function withChanges(before: object, changes: SettingsChanges): Record<string, unknown> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged = { ...before, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

/**
 * The unchecked content of the file: everything that can be parsed, also with an extra comma, a missing end, or another
 * encoding. Empty if there is no file.
 */
export function readSettingsFile(path: string): SettingsFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(code);
    return { values: {}, damage: isMissing ? undefined : `it cannot be read (${code})` };
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(textOf(bytes), errors, { allowTrailingComma: true });
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const damage = isObject ? 'parts of it are not JSON' : 'it is not a JSON object';
  return {
    values: isObject ? (value as Record<string, unknown>) : {},
    damage: isObject && errors.length === 0 ? undefined : damage,
  };
}

/** Editors on Windows save UTF-16 if the user chooses "Unicode". */
function textOf(bytes: Buffer): string {
  const encoding = { fffe: 'utf-16le', feff: 'utf-16be' }[bytes.subarray(0, 2).toString('hex')] ?? 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/**
 * Replaces a damaged file with usable settings and keeps the old one next to it, so that the damage is reported once.
 * Returns the message for the user.
 */
export function repairSettings(path: string, { damage }: SettingsFile, settings: object): Failure {
  const kept = `${path}.damaged-${new Date().toISOString().replace(/[-:.]/g, '')}`;
  let where = '';
  try {
    copyFileSync(path, kept);
    replaceFile(path, `${JSON.stringify(settings, null, 2)}\n`);
    where = ` The old file is kept as ${kept}.`;
  } catch {
    // The folder is not writable: reported again at the next start.
  }
  const why = damage ?? 'some of its values are not valid';
  return {
    code: 'SETTINGS_DAMAGED',
    message: `The settings file ${path} could not be read completely: ${why}. Unreadable settings now have their defaults.${where}`,
    advice: 'Check the settings.',
  };
}
