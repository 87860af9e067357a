import type { Step } from '../../../src-shared/contract/analysis.ts';

/** Text of the step that is being written, from events. */
export interface LiveStep {
  stepId: string;
  text: string;
}

/**
 * Takes a piece of text in. `kept` is what the core had of the step when it was last asked. undefined when text between the two was
 * missed, and the core must be asked again. A piece at 0 begins anew: a question came in between.
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

/** A step as it stands now. */
export function current(step: Step, live: LiveStep | undefined): Step {
  return step.state === 'running' && live?.stepId === step.id ? { ...step, text: live.text } : step;
}
