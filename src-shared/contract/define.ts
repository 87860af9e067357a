import type { z } from 'zod';

/** A procedure that a window can call. Handlers, preload and client are derived from these declarations. */
interface Procedure<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  input: I;
  output: O;
}

export function procedure<I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Procedure<I, O> {
  return { input, output };
}
