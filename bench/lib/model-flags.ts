import { shapedModel } from '../../tools/random-model/random-model.ts';

/** Flags of a bench of one model: its file, or a shape whose weights are random. */
export const MODEL_FLAGS = {
  model: { type: 'string' },
  shape: { type: 'string', default: '0.6b' },
  type: { type: 'string', default: 'q8_0' },
  threads: { type: 'string', default: '0' },
  out: { type: 'string' },
} as const;

/** The model's file; `context`: tokens that one of random weights has room for. */
export function modelFile(
  flags: { model?: string | undefined; shape: string; type: string },
  context = 32_768,
): string {
  return flags.model ?? shapedModel(flags.shape, flags.type, context);
}
