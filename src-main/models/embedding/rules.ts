import { basename } from 'node:path';
import type { EmbeddingPrefixes } from '../../../src-shared/contract/models.ts';
import type { GgufInfo } from '../../engine/engine.ts';
import { stemOf } from '../registry/model-parts.ts';
import { FAMILIES, type EmbeddingRules, type Family } from './families.ts';

/** A model whose rules nobody knows: texts are embedded as they are. */
export const NO_RULES: EmbeddingRules = { question: '', passage: '' };

interface ModelFile {
  header: Pick<GgufInfo, 'architecture' | 'names' | 'contextTrain' | 'pooling'>;
  path: string;
  /** The user's, in place of the family's. */
  prefixes: EmbeddingPrefixes | null;
}

/** The rules of an embedding model: its family's, with the user's prefixes if there are any. */
export function rulesOf(model: ModelFile): EmbeddingRules {
  return { ...(familyOf(model)?.rules ?? NO_RULES), ...model.prefixes };
}

/** The family that the file's names agree on; undefined if they name none, or several. */
export function familyOf({ header, path }: Pick<ModelFile, 'header' | 'path'>): Family | undefined {
  const names = [...header.names, stemOf(basename(path))].map(plainName);
  const candidates = FAMILIES.filter(({ architectures }) => architectures.includes(header.architecture));
  const [family, other] = candidates.filter(({ name }) => names.some((each) => name.test(each)));
  return other ? undefined : family;
}

/** Publishers that some files put before the model's name. */
const OWNER =
  /^(?:alibaba-nlp|baai|ggml-org|google|ibm-granite|intfloat|jinaai|mixedbread-ai|nomic-ai|qwen|sentence-transformers|thenlper|unsloth)-(?=\w+-)/;
const QUANTISATION = /-(?:(?:ud-)?i?q\d(?:-\w+)*|b?f16|f32|fp16|qat|i1|imat|mxfp4|gguf)$/;

function plainName(name: string): string {
  let plain = name.toLowerCase().replace(/[\s_./]+/g, '-');
  for (let before = ''; before !== plain;) [before, plain] = [plain, plain.replace(QUANTISATION, '')];
  return plain.replace(OWNER, '');
}

export function asQuestion({ question }: EmbeddingRules, text: string): string {
  return question + text;
}

export function asPassage(
  { passage }: EmbeddingRules,
  { title, text }: { title: string; text: string },
): string {
  if (passage.includes('{title}')) return passage.replace('{title}', () => title || 'none') + text;
  return passage + (title === '' ? text : `${title}\n${text}`);
}

/**
 * What distinguishes a passage's vector from that by the same file without rules; '' if nothing does. A question's
 * prefix changes no stored vector.
 */
export function vectorVariant(rules: EmbeddingRules, header: ModelFile['header']): string {
  const { passage, end, tokens = Infinity } = rules;
  const pooling = header.pooling === '' ? rules.pooling : undefined;
  const cutAt = tokens < header.contextTrain ? tokens : undefined;
  if (passage === '' && [end, pooling, cutAt].every((each) => each === undefined)) return '';
  return JSON.stringify([passage, end, pooling, cutAt]);
}

/** Lengths to which the model's vectors may be cut, as a sentence's end; '' for none. */
export function sizesOf({ sizes }: EmbeddingRules, dimension: number): string {
  if (sizes === undefined) return '';
  return 'from' in sizes ? `${sizes.from} to ${dimension}` : [dimension, ...sizes].join(', ');
}

/** A unit vector cut to a length for which the model was trained (Matryoshka), with length 1 again. */
export function cutVector(vector: Float32Array, length: number, { layerNorm }: EmbeddingRules): Float32Array {
  if (length === vector.length) return vector;
  const mean = layerNorm ? vector.reduce((sum, value) => sum + value, 0) / vector.length : 0;
  const cut = vector.subarray(0, length).map((value) => value - mean);
  const norm = Math.hypot(...cut);
  return norm === 0 ? cut : cut.map((value) => value / norm);
}

export function allowsSize({ sizes }: EmbeddingRules, size: number, dimension: number): boolean {
  if (size === dimension) return true;
  if (sizes === undefined || size > dimension) return false;
  return 'from' in sizes ? size >= sizes.from : sizes.includes(size);
}
