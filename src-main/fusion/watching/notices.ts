import type { Failure } from '../../../src-shared/contract/common.ts';

/** Emitted once, when more is recomputed from now on. */
export function ratioRaisedFailure(model: string, library: string, leastRatio: number): Failure {
  const ratio = `${Math.round(leastRatio * 100)} %`;
  return {
    code: 'BLENDING_RAISED',
    message: `Blending changed answers of ${model} from “${library}” too much, so at least ${ratio} of their cached text is recomputed from now on.`,
    advice: 'The Models screen shows the comparisons.',
    values: { model, library, ratio },
  };
}

/** Emitted once, when blending has been turned off. */
export function blendingStoppedFailure(model: string, library: string): Failure {
  return {
    code: 'BLENDING_STOPPED',
    message: `Blending still changed answers of ${model} from “${library}” too much, so they are computed in full from now on and take longer.`,
    advice: 'The Models screen shows the comparisons; “Blend again” there undoes this.',
    values: { model, library },
  };
}
