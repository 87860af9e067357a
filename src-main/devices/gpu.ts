import type { Device } from '../engine/engine.ts';

/** Whether it is for packs and trials: what is no GPU (the processor, its libraries for matrices) is used as it is. */
export function isGpu({ kind }: Pick<Device, 'kind'>): boolean {
  return kind === 'gpu' || kind === 'igpu';
}
