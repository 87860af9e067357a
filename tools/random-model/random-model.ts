import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SHAPES } from './shapes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const program = (name: string) =>
  join(ROOT, 'build', 'native', process.platform === 'win32' ? `${name}.exe` : name);
export const MKGGUF = program('kvasir-mkgguf');
const MKLORA = program('kvasir-mklora');
const SPLITGGUF = program('kvasir-splitgguf');

export type MkggufOptions = Record<string, string | number | boolean>;

/** Creates a random-weight GGUF, or returns the existing one with the same options. */
export function randomModel(options: MkggufOptions, dir = join(ROOT, 'build', 'models')): string {
  mkdirSync(dir, { recursive: true });
  return made(MKGGUF, join(dir, `${nameOf(options)}.gguf`), options);
}

/** Creates a random-weight LoRA adapter next to a model file, or returns the existing one. */
export function randomAdapter(model: string, options: MkggufOptions = {}): string {
  const path = model.replace(/\.gguf$/, `_${nameOf({ lora: true, ...options })}.gguf`);
  return made(MKLORA, path, { model, ...options });
}

/** Splits a model into several files next to it, as llama.cpp's gguf-split does, or reuses existing ones; returns the first. */
export function splitModel(model: string, parts: number): string {
  const stem = model.replace(/\.gguf$/, '_split');
  const first = `${stem}-00001-of-${String(parts).padStart(5, '0')}.gguf`;
  if (!existsSync(first)) {
    execFileSync(SPLITGGUF, ['--model', model, '--out', stem, '--parts', String(parts)]);
  }
  return first;
}

function nameOf(options: MkggufOptions): string {
  return Object.entries(options)
    .map(([key, value]) => (value === true ? key : `${key}-${basename(String(value))}`))
    .join('_');
}

function made(tool: string, path: string, options: MkggufOptions): string {
  if (existsSync(path)) return path;
  const flags = Object.entries(options).flatMap(([key, value]) =>
    value === true ? [`--${key}`] : [`--${key}`, String(value)],
  );
  const part = `${path}.part`;
  execFileSync(tool, ['--out', part, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  renameSync(part, path);
  return path;
}

/** A random-weight model of a named shape, e.g. '0.6b', in a weight type, e.g. 'q8_0'. */
export function shapedModel(shape: string, type: string, context: number): string {
  const s = SHAPES[shape];
  if (!s) throw new TypeError(`shape must be one of ${Object.keys(SHAPES).join(', ')}`);
  return randomModel({
    arch: s.arch ?? 'llama',
    type,
    layers: s.layers,
    embd: s.embd,
    heads: s.heads,
    'kv-heads': s.kvHeads,
    'head-dim': s.headDim,
    ff: s.ff,
    vocab: 32000,
    context,
    ...(s.untied && { untied: true }),
    ...(s.window !== undefined && { window: s.window }),
    ...(s.sharing && { 'window-period': s.sharing.period, 'shared-kv': s.sharing.layers }),
    ...(s.experts && {
      experts: s.experts.count,
      'experts-used': s.experts.used,
      'expert-ff': s.experts.ff,
    }),
  });
}
