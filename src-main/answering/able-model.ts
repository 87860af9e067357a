import type { ModelInfo } from '../engine/engine.ts';

/** Smaller models follow instructions too rarely: they choose wrong columns of tables more often than right ones (decision 0263). */
const LEAST_PARAMETERS = 2.5e9;

/** Whether a model can be given a task besides answering. A server's model counts as large. */
export function isAble({ info: { parameterCount } }: { info: Pick<ModelInfo, 'parameterCount'> }): boolean {
  return parameterCount === 0 || parameterCount >= LEAST_PARAMETERS;
}
