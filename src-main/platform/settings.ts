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

/** Threads beyond the cores that are free to us would wait for each other. */
const HereSchema = SettingsSchema.extend({
  threads: z.int().min(0).max(availableParallelism()).default(0),
});

/** A value in the settings that could not be used. */
export interface Adjusted {
  name: string;
  asked: unknown;
  /** undefined: the default. */
  used: number | undefined;
}

/** What a settings file says, and what is wrong with it. */
interface SettingsFile {
  values: Record<string, unknown>;
  /** Why some of the file, or all of it, cannot be used; undefined when it is sound or missing. */
  damage: string | undefined;
}

/**
 * Usable values only, one by one: a number out of range becomes the nearest possible one, since the file may come from a larger
 * machine; what is not valid at all is left out, so that its default applies. Unknown keys stay.
 */
export function usable(given: Record<string, unknown>): {
  settings: Record<string, unknown>;
  adjusted: Adjusted[];
} {
  const settings = { ...given };
  const adjusted: Adjusted[] = [];
  for (const [name, schema] of Object.entries(HereSchema.shape)) {
    if (settings[name] === undefined || schema.safeParse(settings[name]).success) continue;
    const used = nearest(settings[name], schema);
    adjusted.push({ name, asked: settings[name], used });
    settings[name] = used;
  }
  return { settings, adjusted };
}

/** The valid number that comes closest to what was asked for, also where that is a number written as text. */
function nearest(asked: unknown, schema: z.ZodType): number | undefined {
  const value = typeof asked === 'string' && asked.trim() !== '' ? Number(asked) : asked;
  if (typeof value !== 'number') return undefined;
  const { error } = schema.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (!issue) return value;
  const bound = issue.code === 'too_big' ? issue.maximum : issue.code === 'too_small' ? issue.minimum : NaN;
  return schema.safeParse(Number(bound)).success ? Number(bound) : undefined;
}

/** What a person is told of such a value. */
export function adjustedFailure({ name, asked, used }: Adjusted): Failure {
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

/** Checks a whole set of settings. BAD_ARGUMENT. */
export function parseSettings(value: unknown, what = 'The settings'): Settings {
  const result = SettingsSchema.safeParse(value);
  if (result.success) return result.data;
  throw new KvasirError(
    'BAD_ARGUMENT',
    `${what} cannot be used: ${firstIssue(result.error)}.`,
    'Correct the value.',
    {
      cause: result.error,
    },
  );
}

/**
 * Changes some settings. Keys this version does not know are kept. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL.
 */
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

/** What is undefined stays, what is null goes. */
export function withChanges(before: object, changes: SettingsChanges): Record<string, unknown> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const merged = { ...before, ...Object.fromEntries(given) };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}

/**
 * What the file says, unchecked: all that can be read of it, also where it has a comma too many, ends too early, or was saved in
 * another encoding. Nothing when there is none.
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

/** Editors on Windows save UTF-16 where one chooses "Unicode". */
function textOf(bytes: Buffer): string {
  const encoding = { fffe: 'utf-16le', feff: 'utf-16be' }[bytes.subarray(0, 2).toString('hex')] ?? 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

/**
 * Puts usable settings in the place of a damaged file, which is kept beside it, so that the damage is told once. Gives what a person
 * is told.
 */
export function repairSettings(path: string, { damage }: SettingsFile, settings: object): Failure {
  const kept = `${path}.damaged-${new Date().toISOString().replace(/[-:.]/g, '')}`;
  let where = '';
  try {
    copyFileSync(path, kept);
    replaceFile(path, `${JSON.stringify(settings, null, 2)}\n`);
    where = ` The old file is kept as ${kept}.`;
  } catch {
    // A folder that cannot be written: told again at the next start.
  }
  const why = damage ?? 'some of its values are not valid';
  return {
    code: 'SETTINGS_DAMAGED',
    message: `The settings file ${path} could not be used as it is: ${why}. What could not be read has its default now.${where}`,
    advice: 'Look through the settings.',
  };
}
