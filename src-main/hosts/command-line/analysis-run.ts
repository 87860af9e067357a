import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import type { CoreClient } from '../client/client.ts';
import { stoppable } from '../client/stoppable.ts';

/**
 * Follows an analysis to its end and prints each step's answer when it is done. ABORTED if the user stops it; its own
 * failure if it failed.
 */
export async function follow(
  client: CoreClient,
  id: string,
  { signal, onStep }: { signal: AbortSignal; onStep: (step: Step, all: readonly Step[]) => void },
): Promise<Analysis> {
  const ended = Promise.withResolvers<Analysis>();
  const told = new Set<string>();
  const look = async (): Promise<void> => {
    const analysis = await client.call('analysis.get', { id });
    const { state, steps } = analysis;
    for (const step of steps) {
      if (told.has(step.id) || (step.state !== 'done' && step.state !== 'failed')) continue;
      told.add(step.id);
      onStep(step, steps);
    }
    if (state !== 'waiting' && state !== 'running') ended.resolve(analysis);
  };
  let looking = Promise.resolve();
  const lookAgain = (): void => {
    looking = looking.then(look).catch(ended.reject);
  };
  const end = client.on('analysis.changed', (changed) => changed.id === id && lookAgain());
  lookAgain();
  const stop = (): Promise<unknown> => client.call('analysis.stop', { id });
  const analysis = await stoppable(signal, stop, () => ended.promise).finally(end);
  if (analysis.state === 'stopped') throw new KvasirError('ABORTED', 'It was stopped.');
  if (analysis.failure) {
    const { code, message, advice } = analysis.failure;
    throw new KvasirError(code, message, advice);
  }
  return analysis;
}

/** Reuse between steps, in one sentence. */
export function sharingLine({ sharing, steps, workMs }: Analysis): string {
  const { uses, chunks, residentUses, memoryUses, bytesSaved, bytesUsed } = sharing;
  const share = bytesUsed > 0 ? ` (${((bytesSaved / bytesUsed) * 100).toFixed(0)} %)` : '';
  return (
    `${steps.length} prompts in ${(workMs / 1000).toFixed(1)} s. ${uses} places for ${chunks} chunks: ` +
    `${residentUses} stood in the session already, ${memoryUses} in memory; ${formatBytes(bytesSaved)} of ${formatBytes(bytesUsed)} not loaded again${share}.`
  );
}

/** How one step's prompt was processed. */
export function stepLine({ stats, encoded, failure }: Step): string {
  if (failure) return `Failed: ${failure.message} [${failure.code}]`;
  if (!stats) return '';
  const { ttftMs, promptTokens, reusedTokens, recomputedTokens, residentTokens } = stats;
  const made = encoded
    ? `; ${encoded.chunks} chunks computed and stored before, in ${(encoded.ms / 1000).toFixed(2)} s`
    : '';
  const resident = residentTokens > 0 ? `, ${residentTokens} still in the session` : '';
  return `First token after ${(ttftMs.total / 1000).toFixed(2)} s; prompt of ${promptTokens} tokens: ${reusedTokens} from cache, ${recomputedTokens} of them recomputed${resident}${made}.`;
}
