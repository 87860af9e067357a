import { expect, test } from 'vitest';
import type { TreeEntry } from './hub-api.ts';
import { quantizationOf, sortFiles } from './hub-files.ts';

const SUM = 'ab'.repeat(32);

function file(path: string, size = 1): TreeEntry {
  return { type: 'file', path, size: 134, lfs: { oid: SUM, size } };
}

test('quantisations are told by file names', () => {
  const of = (...paths: string[]) => paths.map(quantizationOf);
  expect(of('Qwen3-4B-Q4_K_M.gguf', 'model.q8_0.gguf', 'Qwen3-0.6B-BF16.gguf', 'x-fp16.gguf')).toEqual([
    'Q4_K_M',
    'Q8_0',
    'BF16',
    'F16',
  ]);
  expect(
    of(
      'M-UD-Q4_K_XL.gguf',
      'M-IQ2_XXS.gguf',
      'gpt-oss-20b-mxfp4.gguf',
      'UD-Q2_K/M-UD-Q2_K-00001-of-00002.gguf',
    ),
  ).toEqual(['UD-Q4_K_XL', 'IQ2_XXS', 'MXFP4', 'UD-Q2_K']);
  expect(of('Qwen3.gguf', 'phi-4.gguf')).toEqual(['', '']);
});

test('files in parts are one model, the smallest first; what is no model is told apart', () => {
  const { models, others } = sortFiles([
    file('README.md'),
    file('Q8_0/M-Q8_0-00002-of-00002.gguf', 40),
    file('Q8_0/M-Q8_0-00001-of-00002.gguf', 60),
    file('M-Q4_K_M.gguf', 50),
    file('M.imatrix-Q5_K_M.gguf', 55),
    file('mmproj-F16.gguf'),
    file('imatrix_unsloth.gguf'),
    file('M-Q2_K-00001-of-00003.gguf'),
    { type: 'file', path: 'M-F16.gguf', size: 9 },
    file('../outside.gguf'),
    { ...file('folder.gguf'), type: 'directory' },
  ]);
  expect(
    models.map(({ quantization, bytes, files }) => [quantization, bytes, files.map(({ path }) => path)]),
  ).toEqual([
    ['Q4_K_M', 50, ['M-Q4_K_M.gguf']],
    ['Q5_K_M', 55, ['M.imatrix-Q5_K_M.gguf']],
    ['Q8_0', 100, ['Q8_0/M-Q8_0-00001-of-00002.gguf', 'Q8_0/M-Q8_0-00002-of-00002.gguf']],
  ]);
  expect(Object.fromEntries(others.map(({ path, kind }) => [path, kind]))).toEqual({
    'mmproj-F16.gguf': 'projector',
    'imatrix_unsloth.gguf': 'imatrix',
    'M-Q2_K-00001-of-00003.gguf': 'incomplete',
    'M-F16.gguf': 'unsummed',
  });
});
