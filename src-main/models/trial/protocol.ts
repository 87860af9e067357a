import type { Failure } from '../../../src-shared/contract/common.ts';

/** What the process is asked, once. */
export interface TrialRequest {
  path: string;
  /** How people know the file; for messages. */
  name: string;
  role: 'chat' | 'embedding';
  threads: number;
  device: string;
  /** Of GPUs, that are to be loaded first. */
  packs: readonly string[];
}

/** null: the file was loaded, and has computed something. */
export type TrialReply = { failure: Failure | null };
