import { describe, expect, test } from 'vitest';
import { optionsFrom } from './options.ts';

describe('options of bench:ttft', () => {
  test('one number of runs applies to every context, several apply to one each', () => {
    expect(optionsFrom(['--contexts', '1024,4096', '--runs', '2']).runs).toEqual([2, 2]);
    expect(optionsFrom(['--contexts', '1024,16384', '--runs', '3,1']).runs).toEqual([3, 1]);
  });

  test.each([
    [['--contexts', '1024,2048,4096', '--runs', '3,1'], '--runs'],
    [['--contexts', '1k'], '--contexts'],
    [['--chunks', ''], '--chunks'],
    [['--ratios', '15'], '--ratios'],
    [['--shape', '9b'], '--shape'],
    [['--decode', '-1'], '--decode'],
  ])('rejects %j and names the flag', (argv, flag) => {
    expect(() => optionsFrom(argv)).toThrow(TypeError);
    expect(() => optionsFrom(argv)).toThrow(flag);
  });

  test('a shape is ignored if a model is named', () => {
    expect(optionsFrom(['--model', 'a.gguf', '--shape', 'none']).model).toBe('a.gguf');
  });

  test('flags can be negated', () => {
    const { llama, tiers } = optionsFrom(['--no-llama', '--no-tiers']);
    expect([llama, tiers]).toEqual([false, false]);
  });
});
