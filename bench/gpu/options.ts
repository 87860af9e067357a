import { parseArgs } from 'node:util';
import { SHAPES } from '../../tools/random-model/shapes.ts';

/** Options of `npm run bench:gpu`. */
export interface GpuOptions {
  /** 'auto': the first GPU; 'cpu': run everything on the CPU, as a smoke test; or a device's name. */
  device: string;
  shape: string;
  types: string[];
  contexts: string;
  runs: string;
  /** Also measure loading from disk and over a network, which takes minutes with long contexts. */
  tiers: boolean;
  /** Run parity only on random models whose name contains this. */
  parity: string;
  steps: ReadonlySet<StepName>;
  /** Folder of ggml's source, to avoid the download. */
  ggmlSource: string | undefined;
  /** Compute capability to build for, such as 90; default: the GPU's own. */
  arch: string | undefined;
  outDir: string;
  dryRun: boolean;
  /** Repeat runs that the record lists as done. */
  again: boolean;
}

const STEPS = ['backend', 'parity', 'bench'] as const;
type StepName = (typeof STEPS)[number];

const FLAGS = {
  device: { type: 'string', default: 'auto' },
  shape: { type: 'string', default: '8b' },
  types: { type: 'string', default: 'f16,q4_K' },
  contexts: { type: 'string', default: '2048,4096,8192,16384' },
  runs: { type: 'string', default: '3' },
  tiers: { type: 'boolean', default: true },
  parity: { type: 'string', default: '' },
  steps: { type: 'string', default: STEPS.join(',') },
  'ggml-source': { type: 'string' },
  arch: { type: 'string' },
  'out-dir': { type: 'string', default: 'bench/results' },
  'dry-run': { type: 'boolean', default: false },
  again: { type: 'boolean', default: false },
} as const;

/** A TypeError names the invalid flag. */
export function gpuOptionsFrom(argv: string[], env: NodeJS.ProcessEnv = {}): GpuOptions {
  const { values } = parseArgs({ args: argv, allowNegative: true, options: FLAGS });
  if (!(values.shape in SHAPES))
    throw new TypeError(`--shape must be one of ${Object.keys(SHAPES).join(', ')}`);
  if (values.arch !== undefined && !/^\d{2,3}$/.test(values.arch))
    throw new TypeError('--arch must be a compute capability without its dot, such as 90');
  return {
    device: values.device,
    shape: values.shape,
    types: values.types.split(','),
    contexts: values.contexts,
    runs: values.runs,
    tiers: values.tiers,
    parity: values.parity,
    steps: new Set(values.steps.split(',').map(stepNamed)),
    ggmlSource: values['ggml-source'] ?? env.KVASIR_GGML_SOURCE,
    arch: values.arch,
    outDir: values['out-dir'],
    dryRun: values['dry-run'],
    again: values.again,
  };
}

function stepNamed(name: string): StepName {
  const step = STEPS.find((known) => known === name);
  if (step === undefined) throw new TypeError(`--steps must be among ${STEPS.join(', ')}`);
  return step;
}
