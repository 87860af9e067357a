import type { Failure } from '../../../src-shared/contract/common.ts';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';

export type ModelStep =
  | { kind: 'ready' | 'idle' | 'loading' | 'none' }
  | { kind: 'other'; name: string }
  | { kind: 'failed'; failure: Failure };

/** State of the active model, as shown on the first screen. */
export function modelStep(models: readonly ModelEntry[]): ModelStep {
  const active = models.find((model) => model.role === 'chat' && model.active);
  if (!active) return { kind: 'none' };
  if (active.failure) return { kind: 'failed', failure: active.failure };
  if (active.state === 'loading') return { kind: 'loading' };
  if (active.origin !== 'demo') return { kind: 'other', name: active.name };
  return { kind: active.state === 'ready' ? 'ready' : 'idle' };
}

/** Searchable documents: neither failed nor waiting to be read. */
export function readyOf({
  documents,
  pending,
  failed,
}: Pick<LibraryInfo, 'documents' | 'pending' | 'failed'>): number {
  return documents - pending - failed;
}
