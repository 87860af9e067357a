import type { Failure } from '../../../src-shared/contract/common.ts';

/** The single request that the process gets. It loads the pack first; null: the engine's built-in backend (Metal). */
export type DeviceRequest =
  | { ask: 'list'; pack: string | null }
  /** Whether a device gives what the processor does with a model, and how fast. */
  | { ask: 'try'; pack: string | null; device: string; model: string };

export interface ListedDevice {
  name: string;
  description: string;
}

/** Prompt throughput, in tokens a second. */
export interface MeasuredDevice {
  /** The result that differs from the CPU's; empty if none does. */
  wrong: string;
  tokensPerSecond: number;
  cpuTokensPerSecond: number;
}

export type DeviceReply = { failure: Failure } | { devices: ListedDevice[] } | { measured: MeasuredDevice };
