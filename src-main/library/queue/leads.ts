import { createHash } from 'node:crypto';
import type { TextChunk } from '../../catalogue/chunk-table.ts';
import type { FusionModel } from '../../fusion/model.ts';
import { packTokens } from '../../platform/token-bytes.ts';

/** Maximum for the headings in a lead. The headings nearest to the chunk are kept. */
const HEADING_TOKENS = 64;
/** Maximum for the text before a group in its lead (decision 0249). */
const TEXT_TOKENS = 512;
/** Smaller chunks get no text in their lead: it would multiply their encoding time. */
const SMALL_CHUNK = 256;
/** A lead grows no longer than this: the KV of a whole group is in memory when its pass ends. */
const GROUP_TOKENS = 2048;

type LedChunk = Pick<TextChunk, 'tokens' | 'above'>;

interface LeadOptions {
  /** The document's. */
  title: string;
  chunkTokens: number;
  model: Pick<FusionModel, 'tokenize'>;
}

/**
 * For each chunk of a document, in order, the tokens that it is encoded after. Small chunks: the headings above it. Others: those above
 * its group and the text before it, then the group's chunks before it, so that one pass encodes the whole group (decision 0309).
 */
export function* leadsOf(
  chunks: readonly LedChunk[],
  { title, chunkTokens, model }: LeadOptions,
): Generator<Int32Array> {
  const isSmall = chunkTokens < SMALL_CHUNK;
  const hashes: number[] = [];
  // As they are needed: the caller pauses between leads.
  const hashAt = (i: number): number => (hashes[i] ??= hashOf(chunks[i]?.tokens ?? new Int32Array()));
  let grown: Int32Array = new Int32Array();
  for (const [i, chunk] of chunks.entries()) {
    if (
      isSmall ||
      i === 0 ||
      grown.length >= GROUP_TOKENS ||
      isBorder(i, chunks.length, neighboursOf(chunkTokens), hashAt)
    )
      grown = Int32Array.of(
        // The beginning of a document states its topic.
        ...(i === 0 ? [] : headingLead(headingsBelow(title, chunk.above), model)),
        ...(isSmall ? [] : textBefore(chunks, i)),
      );
    yield grown;
    if (!isSmall) grown = Int32Array.of(...grown, ...chunk.tokens);
  }
}

/** The mean pass that encodes a long document: tokens of its lead, and of the chunks that it gives. */
export function meanPass(chunkTokens: number): { lead: number; tokens: number } {
  if (chunkTokens < SMALL_CHUNK) return { lead: 0, tokens: chunkTokens };
  return { lead: TEXT_TOKENS, tokens: chunkTokens * (1 + 2 * neighboursOf(chunkTokens)) };
}

/** A document's title, and headings, unless the first of them is the title. */
export function headingsBelow(title: string, headings: readonly string[]): readonly string[] {
  return headings[0] === title ? headings : [title, ...headings];
}

/** How many chunks on either side a border is compared with: it is the only one among them. */
function neighboursOf(chunkTokens: number): number {
  return Math.round(512 / chunkTokens);
}

/**
 * Whether a group begins at a chunk: its hash is the least among its neighbours' (a local minimum, as in content-defined chunking). So
 * an edit moves only the borders near it, while groups of a fixed length would all move.
 */
function isBorder(at: number, count: number, neighbours: number, hashAt: (i: number) => number): boolean {
  const last = Math.min(count - 1, at + neighbours);
  for (let i = Math.max(0, at - neighbours); i <= last; i++)
    if (i !== at && hashAt(i) <= hashAt(at)) return false;
  return true;
}

function hashOf(tokens: Int32Array): number {
  return createHash('sha256').update(packTokens(tokens)).digest().readUInt32LE(0);
}

/** The tokens directly before a chunk in its document, up to the lead's limit. */
function textBefore(chunks: readonly LedChunk[], at: number): Int32Array {
  let tokens = new Int32Array();
  for (let i = at - 1; i >= 0 && tokens.length < TEXT_TOKENS; i--)
    tokens = Int32Array.of(...(chunks[i]?.tokens ?? []), ...tokens);
  return tokens.slice(-TEXT_TOKENS);
}

/** Headings in Markdown: of all formats, the one that models have read most. */
function headingLead(headings: readonly string[], model: LeadOptions['model']): Int32Array {
  const lines = headings.map((heading, i) => `${'#'.repeat(i + 1)} ${heading}\n`);
  return model.tokenize(`${lines.join('')}\n`).slice(-HEADING_TOKENS);
}
