import type { Device } from '../engine/engine.ts';

/** Whether the device needs packs and tests; non-GPUs (the CPU and its matrix libraries) are used as they are. */
export function isGpu({ kind }: Pick<Device, 'kind'>): boolean {
  return kind === 'gpu' || kind === 'igpu';
}
