import type { Failure } from '../../../src-shared/contract/common.ts';

/** What the process is asked, once. It loads the pack first; null: what the engine has without one (Metal). */
export type DeviceRequest =
  | { ask: 'list'; pack: string | null }
  /** Whether a device gives what the processor does with a model, and how fast. */
  | { ask: 'try'; pack: string | null; device: string; model: string };

export interface ListedDevice {
  name: string;
  description: string;
}

/** Speeds are in tokens a second, of prompts. */
export interface MeasuredDevice {
  /** In what it was not the processor's equal; empty: in nothing. */
  wrong: string;
  tokensPerSecond: number;
  cpuTokensPerSecond: number;
}

export type DeviceReply = { failure: Failure } | { devices: ListedDevice[] } | { measured: MeasuredDevice };
