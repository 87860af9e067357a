import { CHUNK_SEPARATOR, type ChunkSize } from '../../catalogue/chunk-table.ts';
import type { NamedModel } from '../named-model.ts';
import { findPassages, type FoundPassage, type Passages, type ReadableDocuments } from '../passages.ts';

/** Reason of a passage that begins a document or one of its parts, and of a list of its headings. */
const OPENING = 'opening';
const OUTLINE = 'outline';

/** Share of a document's tokens that its outline may take. */
const OUTLINE_SHARE = 1 / 4;
const MOST_HEADINGS = 40;
/** With fewer headings an outline says nothing that the passages do not. */
const FEWEST_HEADINGS = 3;

/** Room for openings. */
interface Room {
  tokens: number;
  /** Passages at most. */
  most: number;
}

/**
 * The outline of each document and the beginnings of its parts, spread over all of it, as far as there is room: what a question about the
 * whole of a long document is answered from. Documents share the room; those that get none are left out.
 */
export function openingsOf(
  documents: ReadableDocuments['documents'],
  room: Room,
  passages: Passages,
  model: NamedModel['model'],
): FoundPassage[] {
  const found: FoundPassage[] = [];
  let { tokens: left, most } = room;
  for (const [i, document] of documents.entries()) {
    const chunks = passages.passagesOf(document.id);
    const share = left / (documents.length - i);
    const picked = beginnings(chunks, Math.min(most, (share / document.tokens) * chunks.length));
    const opening = findPassages(picked.map(reference), passages);
    const outline = opening[0] && outlineOf(opening[0], chunks, share * OUTLINE_SHARE, model);
    const all = outline ? [outline, ...opening] : opening;
    for (const each of all) {
      if (each.tokens.length > left || most <= 0) continue;
      found.push(each);
      left -= each.tokens.length;
      most -= each === outline ? 0 : 1;
    }
  }
  return found;
}

function reference({ id: chunkId }: ChunkSize) {
  return { chunkId, score: 0, reason: OPENING, highlights: [] };
}

/** At least the first chunk; else the first ones of parts, evenly spread, or where there are few parts, any. */
function beginnings(chunks: readonly ChunkSize[], wanted: number): ChunkSize[] {
  const count = Math.min(chunks.length, Math.max(1, Math.floor(wanted)));
  const parts = chunks.filter(({ title }, i) => title !== chunks[i - 1]?.title);
  const from = parts.length >= count ? parts : chunks;
  return Array.from({ length: count }, (_, i) => from[Math.floor((i * from.length) / count)]).filter(
    (chunk) => chunk !== undefined,
  );
}

/** The headings of a document as a passage of it, whose KV is not kept; undefined when it has too few or they do not fit. */
function outlineOf(
  first: FoundPassage,
  chunks: readonly ChunkSize[],
  room: number,
  model: NamedModel['model'],
): FoundPassage | undefined {
  const trails = [...new Set(chunks.map(({ title }) => title))].map((title) => title.split(' › ').slice(1));
  const headings = trails.filter(({ length }) => length > 0).slice(0, MOST_HEADINGS);
  if (headings.length < FEWEST_HEADINGS) return undefined;
  const lines = headings.map((trail) => `${'  '.repeat(trail.length - 1)}- ${trail.at(-1) ?? ''}`);
  const text = [`${first.passage.path}:`, ...lines].join('\n');
  const tokens = model.tokenize(text + CHUNK_SEPARATOR);
  if (tokens.length > room) return undefined;
  const lead = new Int32Array();
  const passage = { ...first.passage, text, tokens, lead, standsIn: true } as const;
  return { ...first, passage, text, tokens, lead, reason: OUTLINE };
}
