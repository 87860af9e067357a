import { partOf, partPath } from '../../registry/model-parts.ts';
import type { TreeEntry } from './hub-api.ts';

/** A file of a repository with its checksum. */
interface SummedFile {
  path: string;
  bytes: number;
  sha256: string;
}

/** One quantisation of a model: one file, or several parts. */
export interface Quantisation {
  /** From the file name, in capitals; empty if it has none. */
  quantization: string;
  bytes: number;
  files: [SummedFile, ...SummedFile[]];
}

interface OtherFile {
  path: string;
  /** 'incomplete': a model with missing parts; 'unsummed': no checksum to verify a download with. */
  kind: 'projector' | 'imatrix' | 'incomplete' | 'unsummed';
}

const QUANTIZATION =
  /(?<=^|[-._/ ])((?:UD-)?(?:IQ|TQ|Q)\d(?:_[A-Z0-9]+)*|MXFP4(?:_[A-Z]+)*|BF16|FP?16|FP?32)(?=$|[-._/ ])/gi;

/** The GGUF files of a repository: models, by size, and accompanying files. */
export function sortFiles(entries: readonly TreeEntry[]): { models: Quantisation[]; others: OtherFile[] } {
  const found = entries.filter(({ type, path }) => type === 'file' && /\.gguf$/i.test(path) && isPlain(path));
  const summed = new Map<string, SummedFile>();
  const others: OtherFile[] = [];
  for (const { path, lfs } of found) {
    const kind = kindOf(path);
    if (kind) others.push({ path, kind });
    else if (lfs) summed.set(path, { path, bytes: lfs.size, sha256: lfs.oid });
    else others.push({ path, kind: 'unsummed' });
  }
  const models: Quantisation[] = [];
  for (const file of summed.values()) {
    const part = partOf(file.path);
    if (part && part.part > 1 && summed.has(partPath(part, 1))) continue; // listed with the first part
    const files = part
      ? Array.from({ length: part.parts }, (_, i) => summed.get(partPath(part, i + 1)))
      : [file];
    if (isWhole(files)) models.push(quantisation(files));
    else others.push({ path: file.path, kind: 'incomplete' });
  }
  return { models: models.sort((a, b) => a.bytes - b.bytes), others };
}

/** "Qwen3-4B-Q4_K_M.gguf" → "Q4_K_M"; the last one in its path. */
export function quantizationOf(path: string): string {
  const stem = partOf(path)?.stem ?? path.replace(/\.gguf$/i, '');
  const last = [...stem.matchAll(QUANTIZATION)].at(-1)?.[1] ?? '';
  return last.toUpperCase().replace(/^FP/, 'F');
}

function quantisation(files: [SummedFile, ...SummedFile[]]): Quantisation {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { quantization: quantizationOf(files[0].path), bytes, files };
}

function isWhole(files: (SummedFile | undefined)[]): files is [SummedFile, ...SummedFile[]] {
  return files.length > 0 && files.every((file) => file !== undefined);
}

/** Files that are not models: projectors, which turn images into tokens, and importance matrices for quantising. */
function kindOf(path: string): 'projector' | 'imatrix' | undefined {
  const name = path.split('/').at(-1) ?? '';
  if (/mmproj/i.test(name)) return 'projector';
  // Quantised models can have imatrix in their names as well: those also name a quantisation.
  return /imatrix/i.test(name) && quantizationOf(name) === '' ? 'imatrix' : undefined;
}

/** Whether a path stays inside the repository. */
function isPlain(path: string): boolean {
  return path.length <= 500 && path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}
