import { describe, expect, test } from 'vitest';
import { gpuOptionsFrom } from './options.ts';
import { buildCommands, obstacles, scripts, type BuildEnvironment } from './plan.ts';

const nothing: BuildEnvironment = { backend: false, cmake: 'cmake', generator: [], cores: 4 };
const everything: BuildEnvironment = {
  ...nothing,
  driver: '580.1',
  arch: '90',
  nvcc: '/usr/local/cuda/bin/nvcc',
  cmake: 'cmake',
  generator: ['-G', 'Ninja'],
};
const defaults = gpuOptionsFrom([]);

describe('options of bench:gpu', () => {
  test.each([
    [['--shape', '9b'], '--shape'],
    [['--arch', '9.0'], '--arch'],
    [['--steps', 'build'], '--steps'],
  ])('rejects %j and names the flag', (argv, flag) => {
    expect(() => gpuOptionsFrom(argv)).toThrow(TypeError);
    expect(() => gpuOptionsFrom(argv)).toThrow(flag);
  });

  test('the source folder comes from the flag, else from the environment', () => {
    const env = { KVASIR_GGML_SOURCE: '/a' };
    expect(gpuOptionsFrom([], env).ggmlSource).toBe('/a');
    expect(gpuOptionsFrom(['--ggml-source', '/b'], env).ggmlSource).toBe('/b');
  });
});

describe('building the CUDA backend', () => {
  test('each missing requirement is named', () => {
    expect(obstacles(everything, defaults)).toEqual([]);
    expect(obstacles(nothing, defaults).map((why) => /driver|nvcc|--arch/.exec(why)?.[0])).toEqual([
      'driver',
      'nvcc',
      '--arch',
    ]);
    expect(obstacles({ ...everything, arch: undefined }, gpuOptionsFrom(['--arch', '89']))).toEqual([]);
  });

  test('for the installed kind of GPU, unless another is named', () => {
    const args = (argv: string[]) => buildCommands(everything, gpuOptionsFrom(argv))[0]?.args;
    expect(args([])).toContain('-DCMAKE_CUDA_ARCHITECTURES=90-real');
    expect(args(['--arch', '120'])).toContain('-DCMAKE_CUDA_ARCHITECTURES=120-real');
  });

  test('library names have no version, like the prebuilt ones', () => {
    expect(buildCommands(everything, defaults)[0]?.args).toContain('-DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON');
  });
});

describe('scripts that run on the device', () => {
  test('parity, then a bench for each type, on the device and with separate result files', () => {
    const all = scripts(defaults, 'CUDA0');
    expect(all.map(({ name }) => name)).toEqual(['parity', 'bench:ttft', 'bench:ttft']);
    for (const { args } of all) expect(args[args.indexOf('--device') + 1]).toBe('CUDA0');
    expect(all.map(({ out }) => out)).toEqual([
      undefined,
      'bench/results/gpu-8b-f16.json',
      'bench/results/gpu-8b-q4_K.json',
    ]);
  });

  test('--no-tiers omits loading from the benches only', () => {
    const all = scripts(gpuOptionsFrom(['--no-tiers', '--types', 'f16']), 'CUDA0');
    expect(all.map(({ args }) => args.includes('--no-tiers'))).toEqual([false, true]);
  });

  test('only the requested steps', () => {
    const named = (steps: string) => scripts(gpuOptionsFrom(['--steps', steps]), 'CUDA0').length;
    expect(named('backend')).toBe(0);
    expect(named('parity')).toBe(1);
    expect(named('backend,bench')).toBe(2);
  });
});
