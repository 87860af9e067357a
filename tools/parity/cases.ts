/** The random-weight models of the parity run. */
import { type MkggufOptions, randomAdapter, randomModel, splitModel } from '../random-model/random-model.ts';

export interface ParityCase {
  name: string;
  /** Creates the model's file. */
  path: () => string;
  /** Creates the file of an adapter for the model. */
  adapter?: () => string;
  /** Weights are not rounded, so bounds apply unchanged. */
  exact: boolean;
}

const SHAPE = { layers: 4, embd: 256, heads: 4, 'kv-heads': 2, 'head-dim': 64, ff: 512 };
/** For emulated devices, where a norm of 400 rows takes a third of a second. Prompts of 73 tokens exceed these models' windows. */
const SMALL: MkggufOptions = { layers: 2 };
const SMALL_WINDOW = 48;
const SMALL_FAMILIES: Record<string, MkggufOptions> = {
  // llama.cpp adds an image's features in the first three layers, and aborts if no layer follows them.
  qwen3vl: { layers: 4 },
  // The sixth layer is the first without a window.
  gemma3: { layers: 6 },
};

const FIRST_FAMILIES = ['llama', 'qwen2', 'qwen3'];
const TYPES = ['f32', 'f16', 'bf16', 'q8_0', 'q4_0', 'q4_K', 'q5_K', 'q6_K'];
const SCALINGS = ['linear', 'yarn', 'llama3'];

/** The other families, with the options that a model of each needs besides the shape; prompts exceed windows and trained contexts. */
const FAMILIES: Record<string, MkggufOptions> = {
  mistral3: { rope: 'yarn', context: 512 },
  qwen3moe: {},
  phi3: { rope: 'longrope', context: 1024 },
  granite: {},
  smollm3: {},
  glm4: {},
  glm4moe: { layers: 5 },
  olmo2: { window: 96 },
  qwen3vl: {},
  gemma2: { window: 96 },
  gemma3: { window: 96, layers: 7 },
  gemma4: { window: 96, layers: 8, 'shared-kv': 2 },
  'gpt-oss': { window: 96, rope: 'yarn', context: 512 },
};
const FAMILY_TYPES = ['f32', 'f16', 'q8_0', 'q4_K'];
/** With rounded weights all experts are used, so that rounding cannot change the choice; f32 and f16 verify the choice itself. */
const ALL_EXPERTS: Record<string, MkggufOptions> = {
  qwen3moe: { 'experts-used': 8 },
  glm4moe: { 'experts-used': 8 },
  'gpt-oss': { 'experts-used': 8 },
};
/** Types without a kernel in our engine. */
const OTHER_TYPES =
  'q2_K q3_K q4_1 q5_0 q5_1 iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s iq4_nl iq4_xs tq1_0 tq2_0'.split(
    ' ',
  );

/** Gemma 4's large models: in layers without a window, values come from keys and there are fewer KV heads; one model has experts. */
const GEMMA_4_LARGE = ['f32', 'f16', 'q8_0', 'q4_K'].flatMap((type) => [
  caseOf('gemma4', type, { variant: '31b' }, `gemma4 31b ${type}`),
  caseOf(
    'gemma4',
    type,
    { variant: '26b-a4b', ...(type.startsWith('f') ? {} : { 'experts-used': 8 }) },
    `gemma4 26b-a4b ${type}`,
  ),
]);

function caseOf(arch: string, type: string, more: MkggufOptions = {}, name = `${arch} ${type}`): ParityCase {
  const exact = type === 'f32' || type === 'f16';
  const experts = exact ? {} : ALL_EXPERTS[arch];
  const options = { arch, type, ...SHAPE, ...FAMILIES[arch], ...experts, ...more };
  return { name, path: () => randomModel(options), exact };
}

/** A LoRA adapter for every matrix; Phi packs several weights into one tensor. */
function adaptedCases(): ParityCase[] {
  return [
    adapted(caseOf('llama', 'f32'), 'f32'),
    adapted(caseOf('llama', 'f16', { untied: true }, 'llama f16 untied'), 'f16', 32),
    adapted(caseOf('llama', 'q8_0'), 'f16'),
    adapted(caseOf('llama', 'q4_K'), 'f32'),
    adapted(caseOf('phi3', 'f32'), 'f32'),
    adapted(caseOf('qwen3moe', 'f32'), 'f32'),
    adapted(caseOf('gemma4', 'f32'), 'f32'),
  ];
}

/** Split into several files, as large models are published. */
function inParts(of: ParityCase, parts: number): ParityCase {
  return { ...of, name: `${of.name} in ${parts} files`, path: () => splitModel(of.path(), parts) };
}

function adapted(of: ParityCase, type: string, rank = 8): ParityCase {
  return {
    ...of,
    name: `${of.name}, LoRA ${type}`,
    adapter: () => randomAdapter(of.path(), { type, rank }),
  };
}

export function allCases(): ParityCase[] {
  const scaled = FIRST_FAMILIES.flatMap((arch) =>
    SCALINGS.filter((rope) => rope !== 'llama3' || arch === 'llama').map((rope) =>
      caseOf(arch, 'f16', { rope, untied: true }, `${arch} f16 rope ${rope}`),
    ),
  );
  return [
    ...FIRST_FAMILIES.flatMap((arch) => TYPES.map((type) => caseOf(arch, type))),
    ...scaled,
    ...Object.keys(FAMILIES).flatMap((arch) => FAMILY_TYPES.map((type) => caseOf(arch, type))),
    caseOf('olmo2', 'f16', { window: 0 }, 'olmo2 f16 without windows'),
    ...GEMMA_4_LARGE,
    // The published files store experts in this type.
    caseOf('gpt-oss', 'q8_0', { 'expert-type': 'mxfp4' }, 'gpt-oss mxfp4'),
    ...OTHER_TYPES.map((type) => caseOf('llama', type)),
    inParts(caseOf('llama', 'f32'), 3),
    inParts(caseOf('qwen3', 'q4_K'), 2),
    ...adaptedCases(),
  ];
}

function smallOf(arch: string): MkggufOptions {
  const family = FAMILIES[arch] ?? {};
  const window = family['window'] && { window: SMALL_WINDOW };
  return { ...SMALL, ...family, ...window, ...SMALL_FAMILIES[arch] };
}

/** One model of every family and of every other code path. `small`: two layers where possible, and shorter windows. */
export function quickCases({ small = false } = {}): ParityCase[] {
  const of = (arch: string): MkggufOptions => (small ? smallOf(arch) : {});
  return [
    caseOf('llama', 'f32', of('llama')),
    caseOf('llama', 'q4_K', { ...of('llama'), rope: 'llama3' }, 'llama q4_K rope llama3'),
    caseOf('qwen2', 'f16', of('qwen2')),
    caseOf('qwen3', 'f16', { ...of('qwen3'), rope: 'yarn' }, 'qwen3 f16 rope yarn'),
    ...Object.keys(FAMILIES).map((arch) => caseOf(arch, 'f16', of(arch))),
    caseOf('gpt-oss', 'q8_0', { ...of('gpt-oss'), 'expert-type': 'mxfp4' }, 'gpt-oss mxfp4'),
    inParts(caseOf('llama', 'f32', of('llama')), 3),
    adapted(caseOf('phi3', 'f16', of('phi3')), 'f16'),
  ];
}
