import type { HubFile } from '../../../../src-shared/contract/hub.ts';
import type { GgufInfo } from '../../../engine/engine.ts';

type Shape = Pick<
  GgufInfo,
  | 'fileBytes'
  | 'parameterCount'
  | 'layers'
  | 'embeddingLength'
  | 'experts'
  | 'expertsUsed'
  | 'expertFeedForwardLength'
>;

/** A model that has run here, and its speed. */
export interface MeasuredModel {
  header: Shape;
  /** Tokens a second for prefill and for decode; null if not measured. */
  tokensPerSecond: number | null;
  writtenPerSecond: number | null;
}

/** Smaller models are not representative: their weights stay in the CPU's cache. */
const TELLING_PARAMETERS = 50e6;

/**
 * Estimates a model's speed here from a measured one: prefill scales with the active weights, which determine the
 * computation per token; decode scales with their bytes, which are read from memory for every token. Uses the measured
 * model nearest in size; null if there is none.
 */
export function expectedSpeed(measured: readonly MeasuredModel[], header: Shape): HubFile['speed'] {
  const telling = measured
    .filter((each) => each.header.parameterCount >= TELLING_PARAMETERS)
    .sort((a, b) => distance(a.header, header) - distance(b.header, header));
  const read = telling.find(({ tokensPerSecond }) => tokensPerSecond !== null);
  const wrote = telling.find(({ writtenPerSecond }) => writtenPerSecond !== null);
  return {
    reading: read
      ? ((read.tokensPerSecond ?? 0) * activeParameters(read.header)) / activeParameters(header)
      : null,
    writing: wrote ? ((wrote.writtenPerSecond ?? 0) * activeBytes(wrote.header)) / activeBytes(header) : null,
  };
}

/** Weights that process one token: only the selected experts count. */
function activeParameters(header: Shape): number {
  const { parameterCount, layers, embeddingLength, experts, expertsUsed, expertFeedForwardLength } = header;
  if (experts === 0) return Math.max(1, parameterCount);
  const inExperts = layers * experts * 3 * embeddingLength * expertFeedForwardLength;
  const idle = Math.min(inExperts, parameterCount) * (1 - expertsUsed / experts);
  return Math.max(1, parameterCount - idle);
}

function activeBytes(header: Shape): number {
  return (header.fileBytes * activeParameters(header)) / Math.max(1, header.parameterCount);
}

function distance(a: Shape, b: Shape): number {
  return Math.abs(Math.log(activeBytes(a) / activeBytes(b)));
}
