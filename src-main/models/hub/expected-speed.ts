import type { HubFile } from '../../../src-shared/contract/hub.ts';
import type { GgufInfo } from '../../engine/engine.ts';

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

/** A model that has run here, and how fast. */
export interface MeasuredModel {
  header: Shape;
  /** Tokens a second it reads (prefill), and writes (decode); null when it has not. */
  tokensPerSecond: number | null;
  writtenPerSecond: number | null;
}

/** Below this, what is measured is not the weights: those of small models stay in the processor's cache. */
const TELLING_PARAMETERS = 50e6;

/**
 * About how fast a model will be here, from one that was measured: reading goes by the computing that a token takes, so by the weights it
 * goes through; writing by the bytes of these, which are read from memory for every token. The measured one that is nearest in size
 * tells. null where none does.
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

/** Weights that one token goes through: of the experts only those it is sent to. */
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
