import type { GpuOptions } from './options.ts';

/** This machine's requirements for building ggml's CUDA backend; undefined if not found. */
export interface BuildEnvironment {
  /** build/ggml/packs already has the backend, from `npm run setup -- --cuda` or an earlier run. */
  backend: boolean;
  /** The driver's version, from nvidia-smi. */
  driver?: string | undefined;
  /** Compute capability of the first GPU without its dot, such as 90. */
  arch?: string | undefined;
  nvcc?: string | undefined;
  cmake: string;
  /** CMake arguments that choose the build system. */
  generator: string[];
  /** A folder with ggml's source: given, or from an earlier run. */
  source?: string | undefined;
  cores: number;
}

export interface Command {
  program: string;
  args: string[];
}

export const SOURCE = 'build/ggml-source';
export const BUILD = 'build/ggml-cuda';
export const LIBRARY = 'libggml-cuda.so';

/** Reasons why the backend cannot be built here, one sentence each; empty if it can. */
export function obstacles({ driver, nvcc, arch }: BuildEnvironment, options: GpuOptions): string[] {
  return [
    driver === undefined &&
      'No NVIDIA driver was found (nvidia-smi does not run): install it, or try --device cpu.',
    nvcc === undefined &&
      'No CUDA compiler was found (nvcc on PATH, in $CUDACXX, $CUDA_HOME/bin or /usr/local/cuda/bin): install the CUDA toolkit, or run `npm run setup -- --cuda` to download the prebuilt backend.',
    (options.arch ?? arch) === undefined &&
      "The GPU's compute capability is unknown: name it, as in --arch 90.",
  ].filter((sentence) => sentence !== false);
}

/** Builds ggml's CUDA backend only, for one kind of GPU, with the library names of the prebuilt libraries. */
export function buildCommands(found: BuildEnvironment, options: GpuOptions): Command[] {
  const { cmake, generator } = found;
  const on = (names: string[], value: string): string[] => names.map((name) => `-D${name}=${value}`);
  const settings = [
    '-DCMAKE_BUILD_TYPE=Release',
    `-DCMAKE_CUDA_COMPILER=${found.nvcc ?? 'nvcc'}`,
    `-DCMAKE_CUDA_ARCHITECTURES=${options.arch ?? found.arch ?? 'native'}-real`,
    // The prebuilt libggml-base.so has no version in its name, so the one to link with must have none either.
    ...on(['BUILD_SHARED_LIBS', 'GGML_BACKEND_DL', 'GGML_CUDA', 'CMAKE_PLATFORM_NO_VERSIONED_SONAME'], 'ON'),
    ...on(['GGML_CPU', 'GGML_NATIVE', 'GGML_CUDA_NCCL', 'GGML_BUILD_TESTS', 'GGML_BUILD_EXAMPLES'], 'OFF'),
  ];
  return [
    { program: cmake, args: ['-S', found.source ?? SOURCE, '-B', BUILD, ...generator, ...settings] },
    {
      program: cmake,
      args: ['--build', BUILD, '--target', 'ggml-cuda', '--parallel', String(found.cores)],
    },
  ];
}

/** An npm script and its arguments. */
export interface Script {
  /** Description for people. */
  does: string;
  name: string;
  path: string;
  args: string[];
  /** Path of its results. */
  out?: string;
}

/** Parity with the CPU and llama.cpp, then one bench per weight type, all on the device. */
export function scripts(options: GpuOptions, device: string): Script[] {
  const parity: Script = {
    does: `Parity of small random models on ${device}${options.parity === '' ? '' : ` (those named ${options.parity})`}: llama.cpp's results, blending's identities.`,
    name: 'parity',
    path: 'tools/parity/parity.ts',
    args: ['--device', device, ...(options.parity === '' ? [] : ['--only', options.parity])],
  };
  const benches = options.types.map((type): Script => {
    const out = `${options.outDir}/gpu-${options.shape}-${type}.json`;
    const { shape, contexts, runs } = options;
    const flags = { shape, type, contexts, runs, device, out };
    return {
      does: `Time to first token on ${device}, ${shape} in ${type}: each context and method, ${runs} rounds, against llama.cpp. Creates the model first if it does not exist.`,
      name: 'bench:ttft',
      path: 'bench/ttft.ts',
      args: [
        ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]),
        ...(options.tiers ? [] : ['--no-tiers']),
      ],
      out,
    };
  });
  return [...(options.steps.has('parity') ? [parity] : []), ...(options.steps.has('bench') ? benches : [])];
}
