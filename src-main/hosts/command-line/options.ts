import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { KV_DTYPES, type KvDtype } from '../../../src-shared/kv-dtype.ts';
import type { SettingsInput } from '../../../src-shared/settings.ts';

interface WorkingDirectory {
  /** Paths are relative to it. */
  cwd: string;
}

/** Flags of every command. */
export interface GlobalFlags {
  data?: string;
  debug?: boolean;
}

/** Flags of commands that read a library with a model. */
export interface ModelFlags {
  model?: string;
  adapter?: string;
  chunkTokens?: number;
  topK?: number;
  maxTokens?: number;
  strict?: boolean;
  /** For commands that show the model's thoughts: makes it think, if it has the choice. */
  thinking?: boolean;
  dtype?: KvDtype;
  threads?: number;
}

export function addGlobalFlags(command: Command): Command {
  return command
    .option(
      '--data <dir>',
      "folder for the chunk store, settings and log (default: KVASIR_DATA, or the platform's data folder)",
    )
    .option('--debug', 'print stack traces with errors');
}

export function addModelFlags(command: Command, context: WorkingDirectory): Command {
  return command
    .option(
      '--model <file>',
      'GGUF model, or one on a server by its name (default: the demo model)',
      model(context),
    )
    .option('--adapter <file>', 'LoRA adapter (GGUF) to put on the model', path(context))
    .option(
      '--chunk-tokens <n>',
      'tokens in a chunk at most (default: 512, or what suits the model)',
      integer(16),
    )
    .addOption(new Option('--dtype <type>', 'how chunk KV is stored').choices(KV_DTYPES))
    .option(
      '--threads <n>',
      'CPU threads (default: one per physical core, or what suits the model)',
      integer(0),
    );
}

/** For commands that retrieve passages. */
export function addTopKFlag(command: Command): Command {
  return command.option('--top-k <n>', 'chunks in the prompt (default: 6, or more small ones)', integer(1));
}

/** For commands that answer. */
export function addAnswerFlags(command: Command): Command {
  return command
    .option('--max-tokens <n>', 'tokens of an answer at most', integer(1))
    .option(
      '--strict',
      'tell the model to answer from the passages alone (default, except for the demo model)',
    )
    .option('--no-strict', 'let the model answer from what it knows as well');
}

/** A number of bytes, such as 500000000 or 500MB. */
export function byteCount(value: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kMGT]?)B?$/i.exec(value);
  const scale = { '': 1, K: 1e3, M: 1e6, G: 1e9, T: 1e12 }[match?.[2]?.toUpperCase() ?? ''];
  if (!match || scale === undefined)
    throw new InvalidArgumentError('It must be a number of bytes, such as 500000000 or 500MB.');
  return Math.ceil(Number(match[1]) * scale);
}

/** The settings that flags override for one run. */
export function settingsOf(flags: ModelFlags): Partial<SettingsInput> {
  const { chunkTokens, topK, maxTokens, strict, dtype, threads, thinking: think } = flags;
  const given = { chunkTokens, topK, maxTokens, strict, dtype, threads, think };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** A parser for paths, relative to the folder in which the command was given. */
export function path({ cwd }: WorkingDirectory): (value: string) => string {
  return (value) => resolve(cwd, value);
}

/** A parser for models: a value that is neither an address nor a name is a path. */
function model(context: WorkingDirectory): (value: string) => string {
  return (value) => {
    const file = path(context)(value);
    const isFile = /[\\/]|\.gguf$/i.test(value) || existsSync(file);
    return isFile && !/^https?:/i.test(value) ? file : value;
  };
}

/** A parser for whole numbers of at least `least`; commander turns its error into a usage message. */
export function integer(least: number): (value: string) => number {
  return (value) => {
    if (!/^\d+$/.test(value) || Number(value) < least)
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
    return Number(value);
  };
}
