import type { Failure } from '../../../../src-shared/contract/common.ts';

/** The single request that the process gets. */
export interface TrialRequest {
  path: string;
  /** The file's display name, for messages. */
  name: string;
  role: 'chat' | 'embedding' | 'reranker';
  threads: number;
  device: string;
  /** GPU packs to load first. */
  packs: readonly string[];
}

/** null: the file was loaded and computed something. */
export type TrialReply = { failure: Failure | null };
