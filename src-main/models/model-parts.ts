import { existsSync } from 'node:fs';

/** What llama.cpp's gguf-split puts behind a model's name: "-00002-of-00003.gguf". Each part thus tells where the others are. */
const PART = /-(\d{5})-of-(\d{5})\.gguf$/i;

interface ModelPart {
  /** Path or name without what gguf-split put behind it. */
  stem: string;
  /** From 1. */
  part: number;
  parts: number;
}

/** Which part of a split model a file is, by its name; undefined: of none. */
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
 * The files of a model, which is known by the first: that one, and those of its other parts that are there. Whether one is missing the
 * engine says: a file in one piece may be named like a part.
 */
export function filesOf(path: string): string[] {
  const first = partOf(path);
  if (first?.part !== 1) return [path];
  const others = Array.from({ length: Math.max(0, first.parts - 1) }, (_, i) => partPath(first, i + 2));
  return [path, ...others.filter((file) => existsSync(file))];
}

/** What a model's file says of its name: without ending, and without what gguf-split put behind it. */
export function stemOf(name: string): string {
  return partOf(name)?.stem ?? name.replace(/\.gguf$/i, '');
}
