import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Device } from '../../../engine/engine.ts';
import type { Memory } from '../../registry/fit.ts';

const SuggestionSchema = z.object({
  repository: z.string(),
  role: z.enum(['chat', 'embedding', 'reranker']),
  /** Preferred if the repository has it; otherwise its smallest. */
  quantization: z.string(),
});

const FileSchema = z.object({
  version: z.literal(1),
  machines: z
    .array(z.object({ memoryGb: z.number(), gpu: z.boolean(), models: z.array(SuggestionSchema) }))
    .min(1),
});

export type Suggestion = z.infer<typeof SuggestionSchema>;

/** Determines which models suit: the GPU's memory if there is enough, else the machine's. */
export interface Machine {
  memoryGb: number;
  gpu: boolean;
}

const GB = 2 ** 30;
/** Systems reserve some memory: a machine with 16 GB reports 15.4. */
const TOLD = 0.9;
const LEAST_GB = 8;

export function machineOf(devices: readonly Pick<Device, 'kind' | 'memoryTotal'>[], memory: Memory): Machine {
  const card =
    Math.max(0, ...devices.filter(({ kind }) => kind === 'gpu').map((each) => each.memoryTotal)) / GB;
  const gpu = card >= TOLD * LEAST_GB;
  return { memoryGb: gpu ? card : memory.total / GB, gpu };
}

/** The starting points that the file (resources/starting-points.json) lists for a machine. */
export function suggestionsFor(path: string, { memoryGb, gpu }: Machine): readonly Suggestion[] {
  const { machines } = FileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const like = machines.filter((each) => each.gpu === gpu).sort((a, b) => a.memoryGb - b.memoryGb);
  const largest = like.findLast((each) => TOLD * each.memoryGb <= memoryGb);
  return (largest ?? like[0])?.models ?? [];
}
