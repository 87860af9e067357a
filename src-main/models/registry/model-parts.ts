import { existsSync } from 'node:fs';

/**
 * Suffix that llama.cpp's gguf-split adds to a model's name: "-00002-of-00003.gguf". It tells where the other parts
 * are.
 */
const PART = /-(\d{5})-of-(\d{5})\.gguf$/i;

interface ModelPart {
  /** Path or name without gguf-split's suffix. */
  stem: string;
  /** From 1. */
  part: number;
  parts: number;
}

/** The part of a split model that a file name denotes; undefined: not a part. */
export function partOf(path: string): ModelPart | undefined {
  const [suffix, part, parts] = PART.exec(path) ?? [];
  if (suffix === undefined) return undefined;
  return { stem: path.slice(0, -suffix.length), part: Number(part), parts: Number(parts) };
}

/** The path of another part. */
export function partPath({ stem, parts }: Pick<ModelPart, 'stem' | 'parts'>, part: number): string {
  const digits = (n: number): string => String(n).padStart(5, '0');
  return `${stem}-${digits(part)}-of-${digits(parts)}.gguf`;
}

/**
 * The existing files of a model, which is identified by its first. The engine reports missing parts: a file in one
 * piece may be named like a part.
 */
export function filesOf(path: string): string[] {
  const first = partOf(path);
  if (first?.part !== 1) return [path];
  const others = Array.from({ length: Math.max(0, first.parts - 1) }, (_, i) => partPath(first, i + 2));
  return [path, ...others.filter((file) => existsSync(file))];
}

/** A model's name from its file name, without extension and gguf-split's suffix. */
export function stemOf(name: string): string {
  return partOf(name)?.stem ?? name.replace(/\.gguf$/i, '');
}
