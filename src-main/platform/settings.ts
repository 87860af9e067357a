import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
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

/** Reads settings; a missing file means defaults. BAD_ARGUMENT when the file is not valid. */
export function readSettings(path: string): Settings {
  return parseSettings(withinRange(readObject(path)).settings, `The settings file ${path}`);
}

/** A number that a settings file asked for and that cannot be used. */
export interface Adjusted {
  name: string;
  asked: number;
  used: number;
}

/** Brings numbers that are out of range to the nearest that is not: a file may come from a larger machine, or be edited by hand. */
export function withinRange(given: Record<string, unknown>): {
  settings: Record<string, unknown>;
  adjusted: Adjusted[];
} {
  const issues = HereSchema.safeParse(given).error?.issues ?? [];
  const adjusted = issues.flatMap((issue) => {
    const [name = '', ...below] = issue.path.map(String);
    const asked = given[name];
    if (below.length > 0 || typeof asked !== 'number') return [];
    if (issue.code === 'too_big') return [{ name, asked, used: Number(issue.maximum) }];
    return issue.code === 'too_small' ? [{ name, asked, used: Number(issue.minimum) }] : [];
  });
  const used = Object.fromEntries(adjusted.map((each) => [each.name, each.used]));
  return { settings: { ...given, ...used }, adjusted };
}

/** What a person is told of such a number. */
export function adjustedFailure({ name, asked, used }: Adjusted): Failure {
  return {
    code: 'SETTING_ADJUSTED',
    message: `The setting ${name} is ${asked}, which is beyond what is possible on this machine: ${used} is used.`,
    advice: 'Choose another value in the settings if this one does not suit you.',
    values: { setting: name, asked: String(asked), used: String(used) },
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
  const merged = withChanges(withinRange(readObject(path)).settings, changes);
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

/** What the file says, unchecked; nothing when there is none. BAD_ARGUMENT when it is not a JSON object. */
export function readObject(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return {};
    throw new KvasirError(
      'BAD_ARGUMENT',
      `The settings file ${path} cannot be read.`,
      'Check its permissions.',
      { cause: error },
    );
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Falls through to the error below.
  }
  throw new KvasirError(
    'BAD_ARGUMENT',
    `The settings file ${path} is not a JSON object.`,
    'Correct it, or delete it to get the defaults.',
  );
}
