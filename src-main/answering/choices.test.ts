import { expect, test } from 'vitest';
import { recommendedSampling } from '../../src-shared/sampling.ts';
import { SettingsSchema, type SettingsInput } from '../../src-shared/settings.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import { choicesOf } from './choices.ts';

const LARGE = { parameterCount: 7e9, sampling: {} };

function sampled(
  info: Partial<FusionModel['info']>,
  set: Partial<SettingsInput> = {},
  asked: Parameters<typeof choicesOf>[0] = {},
) {
  const model = { path: '/models/one.gguf', blends: false, info: { ...LARGE, ...info } } as FusionModel;
  return choicesOf(asked, SettingsSchema.parse(set), model, {} as Planner).sampling;
}

const forModel = (sampling: object): Partial<SettingsInput> => ({
  sampling: { '/models/one.gguf': sampling },
});

test('the likeliest token every time, with a penalty for models that would repeat themselves', () => {
  expect(sampled({})).toMatchObject({ temperature: 0 });
  expect(sampled({}).repeatPenalty).toBeUndefined();
  expect(sampled({ parameterCount: 135e6 })).toMatchObject({ temperature: 0, repeatPenalty: 1.1 });
});

test('what a header recommends holds, then the settings, then the model’s own, then what was asked', () => {
  const header = { temperature: 0.6, topP: 0.95, topK: 20, repeatPenalty: 1 };
  expect(sampled({ parameterCount: 135e6, sampling: header })).toMatchObject(header);
  expect(sampled({ sampling: header }, { temperature: 0.3 })).toMatchObject({ ...header, temperature: 0.3 });
  const own = { temperature: 0.7, minP: 0.1, seed: 7 };
  const set = { temperature: 0.3, ...forModel(own) };
  expect(sampled({ sampling: header }, set)).toMatchObject({ ...header, ...own });
  expect(sampled({ sampling: header }, set, { temperature: 0 })).toMatchObject({ ...own, temperature: 0 });
  expect(sampled({}, { sampling: { '/models/other.gguf': own } }).temperature).toBe(0);
});

test('more variety is another answer, whatever the seed', () => {
  const varied = sampled({ parameterCount: 135e6 }, forModel({ seed: 7 }), { variety: true });
  expect(varied).toMatchObject({ temperature: 0.8, repeatPenalty: 1.15 });
  expect(varied.seed).not.toBe(7);
  const bold = forModel({ temperature: 1.2, repeatPenalty: 1.3 });
  expect(sampled({}, bold, { variety: true })).toMatchObject({ temperature: 1.2, repeatPenalty: 1.3 });
});

test('what a header recommends is taken as far as it is possible', () => {
  const header = { temperature: NaN, topK: 1.5, topP: 7, minP: 0.1, repeatPenalty: -1 };
  expect(recommendedSampling(header)).toEqual({ minP: 0.1 });
  expect(recommendedSampling(undefined)).toEqual({});
});
