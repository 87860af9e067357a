import type { Step } from '../../../src-shared/contract/analysis.ts';

/** Text of the running step, assembled from events. */
export interface LiveStep {
  stepId: string;
  text: string;
}

/**
 * Appends a piece of text. `kept` is the text the core had when last queried. Returns undefined if text in between was
 * missed and the core must be queried again. A piece at offset 0 restarts the text: a question interrupted the step.
 */
export function withPiece(
  live: LiveStep | undefined,
  piece: { stepId: string; offset: number; text: string },
  kept: Pick<Step, 'id' | 'text'> | undefined,
): LiveStep | undefined {
  const base = kept?.id === piece.stepId ? kept.text : '';
  const own = live?.stepId === piece.stepId ? live.text : '';
  const known = own.length >= base.length ? own : base;
  if (piece.offset > known.length) return undefined;
  return { stepId: piece.stepId, text: known.slice(0, piece.offset) + piece.text };
}

/** A step with its live text. */
export function current(step: Step, live: LiveStep | undefined): Step {
  return step.state === 'running' && live?.stepId === step.id ? { ...step, text: live.text } : step;
}
