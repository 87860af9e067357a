import { join } from 'node:path';
import { isErrorCode } from '../../../src-shared/errors.ts';
import { writeGguf, type GgufValue } from '../../random-model/gguf.ts';
import { tinyModel } from '../../random-model/other-models.ts';
import { OTHER_SHAPES, type OtherArchitecture } from '../../random-model/other-shapes.ts';
import { CallError, RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

const FILES = 5;
const ARCHITECTURES = Object.keys(OTHER_SHAPES) as OtherArchitecture[];
const NUMBERS = [0, 1, 3, 1000, 2 ** 20, 2 ** 31, 2 ** 32 - 1];
const VALUES: GgufValue[] = [
  ...NUMBERS.map((u32) => ({ u32 })),
  ...[0, -1, 1e38, NaN].map((f32) => ({ f32 })),
  ...['', 'x', true, { i32s: [] }, { i32s: [1_000_000, 5, 7, 9] }, { texts: ['a'] }],
];

/** Models that only libllama runs, each with one header entry removed or replaced. */
export const craftedHeader: Fault = {
  name: 'crafted header',
  covers:
    'a header that may crash libllama: the model is used or refused with a typed error, and the app keeps running',
  async run({ data, random }) {
    const app = await RunningApp.start(data);
    for (let i = 0; i < FILES; i++) {
      const { header, tensors } = tinyModel(ARCHITECTURES[random(ARCHITECTURES.length)] ?? 'mamba');
      const keys = Object.keys(header);
      const key = keys[random(keys.length)] ?? '';
      const value = VALUES[random(VALUES.length + 1)];
      if (value === undefined) Reflect.deleteProperty(header, key);
      else header[key] = value;
      const path = writeGguf(join(data, `crafted-${i}.gguf`), header, tensors);
      try {
        await app.call('models.activate', await app.call('models.import', { path }));
      } catch (error) {
        if (!(error instanceof CallError) || !isErrorCode(error.code))
          throw new Error(`${key} = ${JSON.stringify(value)}`, { cause: error });
      }
    }
    await app.call('models.activate', { id: 'demo' });
  },
};
