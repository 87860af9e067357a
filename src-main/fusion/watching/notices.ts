import type { Failure } from '../../../src-shared/contract/common.ts';

/** Said once, when more is recomputed from now on. */
export function raised(model: string, library: string, leastRatio: number): Failure {
  const ratio = `${Math.round(leastRatio * 100)} %`;
  return {
    code: 'BLENDING_RAISED',
    message: `Answers of ${model} from “${library}” changed too much by blending, so at least ${ratio} of their cached text is computed anew from now on.`,
    advice: 'The Models screen shows what was compared.',
    values: { model, library, ratio },
  };
}

/** Said once, when blending has stopped. */
export function stopped(model: string, library: string): Failure {
  return {
    code: 'BLENDING_STOPPED',
    message: `Answers of ${model} from “${library}” still changed too much by blending, so they are computed in full from now on and take longer.`,
    advice: 'The Models screen shows what was compared; “Blend again” there takes it back.',
    values: { model, library },
  };
}
