import { expect, test } from 'vitest';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { modelStep, readyOf } from './readiness.ts';

const DEMO: ModelEntry = {
  id: '1',
  name: 'Kvasir demo',
  path: '/demo.gguf',
  origin: 'demo',
  role: 'chat',
  architecture: 'llama',
  quantization: 'f16',
  fileBytes: 9_100_000,
  parameterCount: 4_484_352,
  layers: 6,
  contextTrain: 2048,
  kvBytesPerToken: { f16: 3072, q8_0: 1632 },
  fit: {
    verdict: 'fits',
    device: 'CPU',
    weightsBytes: 9_000_000,
    kvBytes: 6_000_000,
    computeBytes: 1_000_000,
    freeBytes: 8e9,
    contextTokens: 2048,
  },
  obstacle: null,
  unsupportedReason: '',
  state: 'ready',
  failure: null,
  adapter: null,
  server: null,
  active: true,
  recommendedSampling: {},
};

test.each([
  [{}, { kind: 'ready' }],
  [{ state: 'idle' }, { kind: 'idle' }],
  [{ state: 'loading' }, { kind: 'loading' }],
  [{ active: false }, { kind: 'none' }],
  [{ role: 'embedding' }, { kind: 'none' }],
  [
    { origin: 'imported', name: 'Other' },
    { kind: 'other', name: 'Other' },
  ],
  [
    { failure: { code: 'MODEL_INVALID', message: 'It is broken.', advice: '' } },
    { kind: 'failed', failure: { code: 'MODEL_INVALID', message: 'It is broken.', advice: '' } },
  ],
] as [Partial<ModelEntry>, unknown][])('%j → %j', (changes, step) => {
  expect(modelStep([{ ...DEMO, ...changes }])).toEqual(step);
});

test('documents that failed, or are still to be read, are not told as ready', () => {
  expect(readyOf({ documents: 69, pending: 3, failed: 2 })).toBe(64);
});
